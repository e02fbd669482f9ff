import { PetStoreError } from '../errors.ts'
import { type OperationName, operations } from '../operations.ts'
import { abortReason, untilAborted } from '../support/time.ts'
import { parseJsonIfValid } from './json.ts'
import type { ClientSeams, ResolvedClientOptions } from './options.ts'
import { isRedirect, networkError, type ResponseHeaders, readBody, redirectError, responseError } from './response.ts'

/** A request of the client. All of its attempts are equal. */
export interface ClientRequest {
  readonly operation: OperationName
  /** The parameters in the path of the operation. */
  readonly parameters?: Readonly<Record<string, bigint>>
  /** The query with its question mark; empty without one. */
  readonly query?: string
  readonly body?: string
  readonly idempotencyKey?: string | undefined
}

/** What one attempt has led to: a response, or an error in its place. */
export interface Reply {
  /** The status; 0 without a response. */
  readonly status: number
  /** The headers; empty without a response. */
  readonly headers: ResponseHeaders
  /** The body as JSON; `undefined` if it is not JSON. */
  readonly value?: unknown
  /** Why the attempt failed. */
  readonly error?: PetStoreError
}

/** Returns the function that sends a request once. It rejects only if the signal aborts. */
export function createExchange(
  { baseUrl, apiKey, fetch, timeout }: ResolvedClientOptions,
  now: NonNullable<ClientSeams['clock']>['now'],
) {
  /** Whether `fetch` takes our signals; `undefined` before the first request. */
  let takesSignals: boolean | undefined

  async function receive(request: ClientRequest, url: string, signal: AbortSignal): Promise<Reply> {
    const { operation, body, idempotencyKey } = request
    const headers: Record<string, string> = { Accept: 'application/json', Authorization: `Bearer ${apiKey}` }
    if (body !== undefined) headers['Content-Type'] = 'application/json'
    if (idempotencyKey !== undefined) headers['Idempotency-Key'] = `"${idempotencyKey.replaceAll(/["\\]/g, '\\$&')}"`
    // With `follow`, a redirect could send the API key and the animal to another server.
    const init = { method: operations[operation].method, headers, body: body ?? null, redirect: 'manual' } as const
    takesSignals ??= fetchTakesSignals()
    const response = await fetch(url, takesSignals ? { ...init, signal } : init)
    const received = { status: response.status, headers: response.headers }
    if (isRedirect(response)) {
      response.body?.cancel().catch(() => {})
      return { ...received, error: redirectError(response, url, apiKey) }
    }
    const bytes = await readBody(response)
    if (!response.ok) return { ...received, error: responseError(response, bytes, apiKey, now()) }
    return { ...received, value: parseJsonIfValid(bytes) }
  }

  return async (request: ClientRequest, signal: AbortSignal): Promise<Reply> => {
    const url = baseUrl + pathOf(request) + (request.query ?? '')
    const attempt = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    try {
      return await untilAborted<Reply>(signal, (resolve, reject) => {
        timer = setTimeout(() => {
          // React Native has no `DOMException`.
          const message = `the timeout of ${timeout} milliseconds has passed`
          const error = Object.assign(new Error(message), { name: 'TimeoutError' })
          // Reject also if `fetch` ignores its signal.
          reject(error)
          attempt.abort(error)
        }, timeout)
        receive(request, url, attempt.signal).then(resolve, reject)
        return () => attempt.abort(abortReason(signal))
      })
    } catch (cause) {
      if (signal.aborted) throw abortReason(signal)
      const name = `${operations[request.operation].method} ${url}`
      const error = cause instanceof PetStoreError ? cause : networkError(name, cause, apiKey)
      return { status: 0, headers: { get: () => null }, error }
    } finally {
      clearTimeout(timer)
    }
  }
}

/** Returns the path of a request after `baseUrl`, such as `/pets/7`. */
function pathOf({ operation, parameters = {} }: ClientRequest): string {
  return operations[operation].path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(parameters[name])),
  )
}

/**
 * Returns whether `fetch` takes the signals of the global `AbortController`. Under jsdom, it may be
 * of another realm: with vitest 3 on Node 24, `fetch` rejects its signals. Then a call still rejects
 * at its timeout, but its request goes on.
 */
function fetchTakesSignals(): boolean {
  if (typeof Request === 'undefined') return true
  try {
    return new Request('http://localhost', { signal: new AbortController().signal }).signal !== undefined
  } catch {
    return false
  }
}

/** The calls that one signal of a caller aborts, and the only listener on that signal. */
class Followers extends Set<AbortController> {
  handleEvent({ target }: Event): void {
    for (const call of this) call.abort(abortReason(target as AbortSignal))
  }
}

/** A signal of one call. It aborts when the signal of the caller aborts. */
export interface CallSignal {
  readonly signal: AbortSignal
  /** Removes the call from the signal of the caller. */
  release(): void
}

/**
 * Returns a function that creates a signal for one call. However many calls have the same signal, it
 * gets one listener: Node warns about a leak from the eleventh, and adding a listener takes a time
 * that grows with their number. React Native and jsdom 20 have no `AbortSignal.any`.
 */
export function createSignalFollower(): (callers: AbortSignal | undefined) => CallSignal {
  const followersOf = new WeakMap<AbortSignal, Followers>()
  return (callers) => {
    const call = new AbortController()
    if (callers === undefined) return { signal: call.signal, release() {} }
    const followers = followersOf.get(callers) ?? new Followers()
    if (followers.size === 0) callers.addEventListener('abort', followers)
    followersOf.set(callers, followers.add(call))
    if (callers.aborted) call.abort(abortReason(callers))
    const release = () => {
      followers.delete(call)
      if (followers.size === 0) callers.removeEventListener('abort', followers)
    }
    return { signal: call.signal, release }
  }
}
