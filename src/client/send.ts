import { PetStoreError } from '../errors.ts'
import { readResponse } from '../http/read-response.ts'
import type { resolveClientOptions } from './options.ts'
import { type RateLimit, readRateLimit } from './rate-limit.ts'
import { responseError } from './response-error.ts'

/** One request to the API. */
export interface ClientRequest {
  readonly method: 'GET' | 'POST'
  /** The path below the base address, with its query. */
  readonly path: string
  readonly body?: string | undefined
  readonly signal?: AbortSignal | undefined
}

/** A response with status 2xx. */
export interface ClientResponse {
  readonly response: Response
  /** The URL to which the request was sent. */
  readonly url: string
  readonly body: Uint8Array
}

/** The options of the client with their defaults, and a callback for the rate limit of each response. */
interface SenderOptions extends ReturnType<typeof resolveClientOptions> {
  readonly onRateLimit: (rateLimit: RateLimit | undefined) => void
}

/** Returns a function that sends a request. After a failure, it sends the request again unless that could add an animal twice. */
export function createSender({ baseUrl, apiKey, fetch, retry, onRateLimit }: SenderOptions) {
  const { maxRetries, maxDelay, baseDelay, sleep, random, clock } = retry

  async function attempt({ method, path, body, signal }: ClientRequest): Promise<ClientResponse | PetStoreError> {
    const url = baseUrl + path
    const headers: Record<string, string> = { Accept: 'application/json', Authorization: `Bearer ${apiKey}` }
    if (body !== undefined) headers['Content-Type'] = 'application/json'
    signal?.throwIfAborted()
    try {
      const response = await fetch(url, { method, headers, body: body ?? null, signal: signal ?? null })
      onRateLimit(readRateLimit(response.headers))
      const bytes = await readResponse(response)
      return response.ok ? { response, url, body: bytes } : responseError(response, bytes, clock)
    } catch (cause) {
      signal?.throwIfAborted()
      if (cause instanceof PetStoreError) return cause
      const reason = cause instanceof Error ? cause.message : String(cause)
      return new PetStoreError('network_error', `${method} ${url}: no response arrived: ${reason}`, {
        status: 0,
        cause,
      })
    }
  }

  /** Returns the milliseconds to wait before the request is sent again, or `undefined` if the error is final. */
  function retryDelay(error: PetStoreError, method: string, retries: number): number | undefined {
    // A request with a 429 has changed nothing. After any other failure, a POST may have added its animal.
    const isTransient = error.code === 'network_error' || error.code === 'service_unavailable'
    if (retries >= maxRetries || !(error.status === 429 || (method === 'GET' && isTransient))) return undefined
    if (error.retryAfter === undefined) return random() * Math.min(maxDelay, baseDelay * 2 ** retries)
    const delay = error.retryAfter * 1000
    return delay <= maxDelay ? delay : undefined
  }

  return async function send(request: ClientRequest): Promise<ClientResponse> {
    for (let retries = 0; ; retries++) {
      const outcome = await attempt(request)
      if (!(outcome instanceof PetStoreError)) return outcome
      const delay = retryDelay(outcome, request.method, retries)
      if (delay === undefined) throw outcome
      await sleep(delay, request.signal)
    }
  }
}
