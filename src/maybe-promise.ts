import type { MaybePromise } from './ports.ts'

/**
 * Goes on with a value: at once where it is there, so that a request served from memory waits for no tick. A promise here is
 * the language's own: {@link isPending} tells those of a library, once, where a port is called.
 */
export function andThen<T, U>(value: MaybePromise<T>, next: (value: T) => MaybePromise<U>): MaybePromise<U> {
  return value instanceof Promise ? value.then(next) : next(value as T)
}

/** Whether a value is still to come, be it a promise of the language or of a library. */
export function isPending<T>(value: MaybePromise<T>): value is Promise<T> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function'
}
