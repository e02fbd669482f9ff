import { PetStoreError } from '../errors.ts'
import { readResponse } from '../http/read-response.ts'
import { createGate } from './gate.ts'
import type { resolveClientOptions } from './options.ts'
import { type RateLimit, readRateLimit } from './rate-limit.ts'
import { redirectError, responseError } from './response-error.ts'

/** One request to the API. */
export interface ClientRequest {
  readonly method: 'GET' | 'POST'
  /** The path below the base address, with its query. */
  readonly path: string
  readonly body?: string | undefined
  /** With a key, the request may be sent again after any fault. */
  readonly idempotencyKey?: string | undefined
  readonly signal?: AbortSignal | undefined
}

/** A response with status 2xx. */
export interface ClientResponse {
  readonly response: Response
  /** The URL to which the request was sent. */
  readonly url: string
  readonly body: Uint8Array
}

/** Creates a sender. After a failure, it sends the request again unless that could add an animal twice. */
export function createSender(options: ReturnType<typeof resolveClientOptions>) {
  const { baseUrl, apiKey, fetch, timeout, onRetry, retry, sleep, random, clock } = options
  const { maxRetries, maxDelay, baseDelay } = retry
  const onUsedUp = ({ limit }: RateLimit, delay: number) => {
    const retryAfter = Math.ceil(delay / 1000)
    const message = `All ${limit} requests of this window are used up, and it ends in ${retryAfter} seconds.`
    onRetry?.({ attempt: 0, delay, error: new PetStoreError('rate_limit_exceeded', message, { retryAfter }) })
  }
  let calls = 0
  let rateLimit: RateLimit | undefined
  /** Whether the server supports idempotency keys, as far as its responses have shown. */
  let supportsKeys = true
  const gate = createGate({ clock, sleep, maxDelay, onUsedUp })

  /** Sends a request once. Rejects only if the signal of the call aborts. */
  async function attempt({ method, path, body, idempotencyKey, signal }: ClientRequest) {
    const url = baseUrl + path
    const headers: Record<string, string> = { Accept: 'application/json', Authorization: `Bearer ${apiKey}` }
    if (body !== undefined) headers['Content-Type'] = 'application/json'
    if (idempotencyKey !== undefined) headers['Idempotency-Key'] = `"${idempotencyKey.replaceAll(/["\\]/g, '\\$&')}"`
    let response: Response | undefined
    const exchange = async (signal: AbortSignal): Promise<ClientResponse> => {
      // `manual`, because a redirect could send the key and the animal to another server.
      response = await fetch(url, { method, headers, body: body ?? null, redirect: 'manual', signal })
      const redirect = redirectError(response, url)
      if (redirect !== undefined) throw redirect
      rateLimit = readRateLimit(response.headers)
      const bytes = await readResponse(response)
      if (!response.ok) throw responseError(response, bytes, clock)
      return { response, url, body: bytes }
    }
    try {
      return { received: await withDeadline(exchange, timeout, signal), headers: response?.headers }
    } catch (cause) {
      signal?.throwIfAborted()
      const reason = cause instanceof Error ? cause.message : String(cause)
      const message = `${method} ${url}: no response arrived: ${reason}`
      const fault = new PetStoreError('network_error', message, { status: 0, cause })
      return { error: cause instanceof PetStoreError ? cause : fault, headers: response?.headers }
    }
  }

  /** Returns the milliseconds to wait after an error, before the request is sent again. */
  function delayAfter({ retryAfter }: PetStoreError, retries: number): number {
    return retryAfter === undefined ? random() * Math.min(maxDelay, baseDelay * 2 ** retries) : retryAfter * 1000
  }

  function isRepeatable({ status, code }: PetStoreError, { method, idempotencyKey }: ClientRequest): boolean {
    // A request with a 429 has changed nothing. After any other failure, a POST without a key may have added its animal.
    if (status === 429) return true
    return (method === 'GET' || idempotencyKey !== undefined) && isUnclear(code)
  }

  async function send(given: ClientRequest): Promise<ClientResponse> {
    const ticket = calls++
    /** The error after which the server may have carried out the request. */
    let unclear: PetStoreError | undefined
    for (let retries = 0; ; ) {
      await gate.enter(ticket, given.signal)
      // After such an error, the call keeps its key: another server may support keys, and may have added the animal.
      const request = supportsKeys || unclear !== undefined ? given : { ...given, idempotencyKey: undefined }
      const { received, error, headers } = await attempt(request).catch((reason) => {
        gate.leave()
        throw reason
      })
      const delay = error === undefined ? 0 : delayAfter(error, retries)
      gate.leave({ headers, error, delay })
      if (error === undefined) return received
      if (error.code === 'idempotency_not_supported' && request.idempotencyKey !== undefined) {
        supportsKeys = false
        if (unclear !== undefined) throw unclear
        continue
      }
      if (retries >= maxRetries || delay > maxDelay || !isRepeatable(error, request)) throw error
      if (isUnclear(error.code)) unclear = error
      retries++
      onRetry?.({ attempt: retries, delay, error })
      // After a 429, the call waits at the gate, together with all other calls.
      if (error.status !== 429) await sleep(delay, request.signal)
    }
  }

  return {
    send,
    /** The rate limit in the last response; `undefined` before the first response. */
    get rateLimit() {
      return rateLimit
    },
  }
}

/** Returns whether the server may have carried out a request with this error. */
function isUnclear(code: PetStoreError['code']): boolean {
  return code === 'network_error' || code === 'service_unavailable'
}

/** Runs a task. Rejects after the timeout, or when the signal aborts, also if the task ignores its own signal. */
async function withDeadline<T>(
  task: (signal: AbortSignal) => Promise<T>,
  timeout: number,
  signal: AbortSignal | undefined,
): Promise<T> {
  signal?.throwIfAborted()
  const controller = new AbortController()
  const onAbort = () => controller.abort(signal?.reason)
  const onTimeout = () => {
    controller.abort(new DOMException(`the timeout of ${timeout} milliseconds has passed`, 'TimeoutError'))
  }
  const timer = setTimeout(onTimeout, timeout)
  signal?.addEventListener('abort', onAbort)
  try {
    return await new Promise((resolve, reject) => {
      controller.signal.addEventListener('abort', () => reject(controller.signal.reason))
      task(controller.signal).then(resolve, reject)
    })
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
  }
}
