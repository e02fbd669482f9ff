/** A function for each method of a port: it gets the call and the method's arguments, and returns what the method returns. */
export type Around<Port> = {
  readonly [Name in keyof Port]: Port[Name] extends (...parameters: infer Parameters) => infer Result
    ? (call: () => Result, ...parameters: Parameters) => Result
    : never
}

type Methods<Result> = Readonly<Record<string, (...parameters: unknown[]) => Result>>

/**
 * Returns the methods of a port that `around` names, each inside the function of the same name in `around`. `call` passes on all
 * arguments, such as a `CallContext` with its signal. A wrapper that lists the arguments by hand would drop the next one.
 */
export function wrapPort<Port extends object, Name extends keyof Port>(
  port: Port,
  around: Pick<Around<Port>, Name>,
): Pick<Port, Name> {
  const methods = port as unknown as Methods<unknown>
  const wrapped = Object.entries(around as unknown as Methods<unknown>).map(([name, run]) => [
    name,
    (...parameters: unknown[]) => run(() => methods[name]?.(...parameters), ...parameters),
  ])
  return Object.fromEntries(wrapped)
}
