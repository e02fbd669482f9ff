import type { MaybePromise } from '../ports.ts'

/** Calls a function with a value: at once if it is no promise, so that a request served from memory waits for no tick. */
export function andThen<T, U>(value: MaybePromise<T>, next: (value: T) => MaybePromise<U>): MaybePromise<U> {
  return isPending(value) ? value.then(next) : next(value)
}

/** Returns whether a value is a promise, of the language or of a library. */
export function isPending<T>(value: MaybePromise<T>): value is Promise<T> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function'
}
