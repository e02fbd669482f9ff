/** A function for each method of a port. It gets `call`, then the parameters of the method. `call()` calls the method. */
export type Around<Port> = {
  readonly [Name in keyof Port]-?: NonNullable<Port[Name]> extends (...parameters: infer Parameters) => infer Result
    ? (call: () => Result, ...parameters: Parameters) => Result
    : never
}

type Methods<Result> = Readonly<Record<string, (...parameters: unknown[]) => Result>>

/**
 * Wraps methods of a port, for example to time them: for each function in `around`, returns a method of the same name that calls
 * this function. Leaves out methods that the port does not have. `call` passes all arguments on, such as a `CallContext`.
 * @example
 * ```ts
 * import { memory } from 'petstore-kit'
 * import { wrapPort } from 'petstore-kit/back-end'
 *
 * const { storage } = memory()
 * const timed = <Result>(call: () => Result): Result => {
 *   console.time('create')
 *   try {
 *     return call()
 *   } finally {
 *     console.timeEnd('create')
 *   }
 * }
 * const timedStorage = { ...storage, ...wrapPort(storage, { create: timed, createOnce: timed }) }
 * ```
 */
export function wrapPort<Port extends object, Name extends keyof Port>(
  port: Port,
  around: Pick<Around<Port>, Name>,
): Pick<Port, Name> {
  const methods = port as unknown as Methods<unknown>
  const wrapped = Object.entries(around as unknown as Methods<unknown>)
    .filter(([name]) => typeof methods[name] === 'function')
    .map(([name, run]) => [
      name,
      (...parameters: unknown[]) => run(() => methods[name]?.(...parameters), ...parameters),
    ])
  return Object.fromEntries(wrapped)
}
