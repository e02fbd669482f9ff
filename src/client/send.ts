import { PetStoreError } from '../errors.ts'
import { readResponse } from '../http/body-bytes.ts'
import type { RateLimit } from '../model.ts'
import { type OperationName, operations } from '../operations.ts'
import { abortReason } from '../support/time.ts'
import { type Call, createGate } from './gate.ts'
import type { resolveClientOptions } from './options.ts'
import { isTransient, networkError, redirectError, responseError } from './response-error.ts'
import { readRateLimit } from './response-headers.ts'
import { createSignalFollower, createStopwatch, fetchTakesSignals, withDeadline } from './time.ts'

interface ClientRequest {
  readonly operation: OperationName
  /** The parameters in the path of the operation. */
  readonly parameters?: Readonly<Record<string, bigint>>
  readonly query?: URLSearchParams
  readonly body?: string | undefined
  readonly idempotencyKey?: string | undefined
  readonly signal?: AbortSignal | undefined
}

/** A response, or a failed attempt to get one. */
export interface ClientResponse {
  /** The URL of the response; without a response, that of the request. */
  url: string
  /** The status; 0 without a response. */
  status: number
  headers: Headers
  body: Uint8Array
  /** When the attempt began, by the stopwatch. */
  readonly begunAt: number
  error?: PetStoreError
}

/**
 * Creates the sender of a client, which sends a failed request again unless that could add an
 * animal twice.
 */
export function createSender(options: ReturnType<typeof resolveClientOptions>) {
  const { baseUrl, apiKey, fetch, timeout, clock } = options
  const { maxRetries } = options.retry
  let rateLimit: RateLimit | undefined
  /** Whether `fetch` takes our signals; `undefined` before the first request. */
  let takesSignals: boolean | undefined
  const stopwatch = createStopwatch(clock, options.sleep)
  const pass = createGate(options, stopwatch)
  const follow = createSignalFollower()

  /** Sends a request once. Rejects only if the signal of the call aborts. */
  async function attempt(request: ClientRequest, signal: Call['signal']): Promise<ClientResponse> {
    const { operation, body, idempotencyKey: key } = request
    const { method } = operations[operation]
    const begunAt = stopwatch.elapsed()
    const url = baseUrl + targetOf(request)
    const headers: Record<string, string> = { Accept: 'application/json', Authorization: `Bearer ${apiKey}` }
    if (body !== undefined) headers['Content-Type'] = 'application/json'
    if (key !== undefined) headers['Idempotency-Key'] = `"${key.replaceAll(/["\\]/g, '\\$&')}"`
    const result: ClientResponse = { url, status: 0, headers: new Headers(), body: new Uint8Array(), begunAt }
    takesSignals ??= fetchTakesSignals()
    const exchange = async (signal: AbortSignal) => {
      // With `follow`, a redirect could send the API key and the animal to another server.
      const init = { method, headers, body: body ?? null, redirect: 'manual' } as const
      const response = await fetch(url, takesSignals ? { ...init, signal } : init)
      Object.assign(result, { status: response.status, headers: response.headers, url: response.url || url })
      const redirect = redirectError(response, url, apiKey)
      if (redirect !== undefined) throw redirect
      rateLimit = readRateLimit(response.headers)
      result.body = await readResponse(response)
      if (!response.ok) throw responseError(response, result.body, clock, apiKey)
    }
    try {
      await withDeadline(exchange, timeout, signal)
    } catch (cause) {
      if (signal?.aborted) throw abortReason(signal)
      result.error = cause instanceof PetStoreError ? cause : networkError(`${method} ${url}`, cause, apiKey)
    }
    return result
  }

  async function send(request: ClientRequest): Promise<ClientResponse> {
    const followed = request.signal && follow(request.signal)
    try {
      return await sendUntilSuccess(request, followed?.signal)
    } finally {
      followed?.release()
    }
  }

  async function sendUntilSuccess(request: ClientRequest, signal: Call['signal']): Promise<ClientResponse> {
    const call: Call = { signal, madeAt: stopwatch.elapsed(), failedAt: Number.POSITIVE_INFINITY }
    let retries = 0
    for (;;) {
      const result = await pass(call, () => attempt(request, signal))
      const { error, begunAt } = result
      if (error === undefined) return result
      // A 429 has changed nothing. Any other failed POST may have added its animal: without a key,
      // a second POST adds another.
      const isRefused = error.status === 429
      const isRepeatable =
        isRefused || operations[request.operation].isRepeatable || request.idempotencyKey !== undefined
      if (retries >= maxRetries || !isTransient(error) || !isRepeatable) throw error
      retries += 1
      if (isRefused) continue
      call.failedAt = Math.min(call.failedAt, begunAt)
    }
  }

  return { send, lastRateLimit: () => rateLimit }
}

/** Returns the path and query of a request after `baseUrl`, such as `/pets?limit=2`. */
function targetOf({ operation, parameters = {}, query }: ClientRequest): string {
  const path = operations[operation].path.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(parameters[name]))
  return query && query.size > 0 ? `${path}?${query}` : path
}
