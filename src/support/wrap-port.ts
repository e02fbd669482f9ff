/**
 * A function for each method of a port. It gets `call`, then the parameters of the method. `call()`
 * calls the method.
 */
export type Around<Port> = {
  readonly [Name in keyof Port]-?: NonNullable<Port[Name]> extends (...parameters: infer Parameters) => infer Result
    ? (call: () => Result, ...parameters: Parameters) => Result
    : never
}

type Method = (...parameters: unknown[]) => unknown

/**
 * Returns a port that does the same as `port`, with a function of yours around some of its methods,
 * for example to time them. The functions in `around` have the names of the methods. `call` passes
 * all arguments on, such as a `CallContext`. The methods of classes are passed on too, and keep
 * their `this`. A function for a method that the port does not have is ignored.
 * @example
 * ```ts
 * import { memory } from 'petstore-kit'
 * import { wrapPort } from 'petstore-kit/back-end'
 *
 * const timed = <Result>(call: () => Result): Result => {
 *   console.time('create')
 *   try {
 *     return call()
 *   } finally {
 *     console.timeEnd('create')
 *   }
 * }
 * const timedStorage = wrapPort(memory().storage, { create: timed })
 * ```
 */
export function wrapPort<Port extends object>(port: Port, around: Partial<Around<Port>>): Port {
  const wrapped = {}
  for (const name of memberNames(port)) {
    const run: unknown = Reflect.get(around, name)
    const call: Method = (...parameters) => Reflect.apply(Reflect.get(port, name) as Method, port, parameters)
    const method: Method =
      typeof run === 'function' ? (...parameters) => run(() => call(...parameters), ...parameters) : call
    // A getter, because a member may change: a quota store may get the method `peek` later.
    const get = () => {
      const member: unknown = Reflect.get(port, name)
      return typeof member === 'function' ? method : member
    }
    Object.defineProperty(wrapped, name, { enumerable: true, get })
  }
  return wrapped as Port
}

/** Returns the names of all members of an object, also of those that its class has. */
function memberNames(object: object): Set<string | symbol> {
  const names = new Set<string | symbol>()
  for (let holder = object; hasOwnMembers(holder); holder = Object.getPrototypeOf(holder))
    for (const name of Reflect.ownKeys(holder)) names.add(name)
  names.delete('constructor')
  return names
}

/**
 * Returns false for `Object.prototype`, for `Function.prototype` (a class may be a port), and for
 * `null` after the last prototype.
 */
function hasOwnMembers(holder: object | null): holder is object {
  return holder !== null && holder !== Object.prototype && holder !== Function.prototype
}
