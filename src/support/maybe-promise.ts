import type { MaybePromise } from '../ports.ts'

/**
 * Calls `next` with a value, or with the result of a promise. `await` would delay even a value that
 * is no promise. So only a list, a look-up and the steps before them use this function: with
 * `await`, a list from memory over HTTP takes 2 % more CPU time. A create waits for its body
 * anyway.
 */
export function andThen<T, U>(value: MaybePromise<T>, next: (value: T) => MaybePromise<U>): MaybePromise<U> {
  return isPromise(value) ? value.then(next) : next(value)
}

/**
 * Returns whether a value is a promise. A library's own kind of promise counts too: any object with
 * a method `then`.
 */
export function isPromise<T>(value: MaybePromise<T>): value is Promise<T> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function'
}
