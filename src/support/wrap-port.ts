/** A function for each method of a port: it gets the call and the method's arguments, and returns what the method returns. */
export type Around<Port> = {
  readonly [Name in keyof Port]-?: NonNullable<Port[Name]> extends (...parameters: infer Parameters) => infer Result
    ? (call: () => Result, ...parameters: Parameters) => Result
    : never
}

type Methods<Result> = Readonly<Record<string, (...parameters: unknown[]) => Result>>

/**
 * Returns the methods of a port that `around` names, each inside the function of the same name in `around`, for example to time
 * them. An optional method that the port does not have is left out. `call` passes on all arguments, such as a `CallContext`.
 *
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
