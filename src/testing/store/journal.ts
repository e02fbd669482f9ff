import * as z from 'zod/mini'
import { PetStoreError } from '../../errors.ts'
import { type ApiRequest, originForm, readTarget, wrapRequest } from '../../http/request.ts'
import { requestIdIn } from '../../http/request-id.ts'
import type { ApiResponse } from '../../http/response.ts'
import { matchRoute } from '../../http/routes.ts'
import { type OperationName, operationNames } from '../../operations.ts'
import type { PetStore } from '../../pet-store.ts'
import type { Clock } from '../../ports.ts'
import { expecting } from '../../schemas/expected.ts'
import { milliseconds, oneOf, optionsOf, wholeNumber } from '../../schemas/options.ts'
import { parseOptions } from '../../schemas/parse-options.ts'
import { untilAborted, withTimeout } from '../../support/time.ts'

const MAX_ENTRIES = 1_000
/** How many requests the error after a timeout lists. */
const LISTED = 5

/** A request to the test store. */
export interface RecordedRequest {
  /** Its number, from 1. A reset does not start again at 1, so that no two requests have the same number. */
  readonly id: number
  /** The operation; `undefined` if the path or the method has none. */
  readonly operation: OperationName | undefined
  /** The method, as the client sent it. */
  readonly method: string
  /** The path and the query, such as `/v1/pets?limit=2`. */
  readonly path: string
  /** Returns a header by its name in any case. */
  readonly header: (name: string) => string | undefined
  /** The body as text; empty if the store responded without reading it. */
  readonly body: string
  /** When the request arrived, by the store's clock, in milliseconds since the Unix epoch. */
  readonly time: number
  /** The id in `X-Request-Id` of the response; `undefined` without the option `requestId`. */
  readonly requestId: string | undefined
  /** The response; `undefined` until the store has responded. */
  readonly response: RecordedResponse | undefined
}

/** A response of the test store. */
export interface RecordedResponse {
  /** The HTTP status. */
  readonly status: number
  /** The headers by their names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** The body as text. */
  readonly body: string
}

/** Selects requests of the journal. */
export interface RequestFilter {
  /** Only requests for this operation. @default all requests */
  readonly operation?: OperationName | undefined
  /** Only requests whose response has this status. @default all requests */
  readonly status?: number | undefined
  /** Only requests with a greater `id`. @default 0 */
  readonly after?: number | undefined
}

/** The options of {@link RequestJournal.next}. */
export interface NextRequestOptions {
  /** Ends the wait. `next` then rejects with the reason of this signal. */
  readonly signal?: AbortSignal | undefined
  /** The longest wait in milliseconds, by `setTimeout`. @default no limit */
  readonly timeout?: number | undefined
}

/** The last 1,000 requests with their responses, the oldest first. */
export interface RequestJournal extends ReadonlyArray<RecordedRequest> {
  /**
   * Returns the first request with a response that fits the filter and that no earlier call has
   * returned. If there is none yet, waits for it.
   * @throws {PetStoreError} `request_timeout` after `timeout`; `invalid_option`
   * @example
   * ```ts
   * import { createTestPetStore } from 'petstore-kit/testing'
   *
   * const { client, requests } = await createTestPetStore()
   * void client.createPet({ name: 'Rex', categoryId: 1n, status: 'available' })
   * const { body } = await requests.next({ operation: 'createPet', status: 201 })
   * console.log(body) // {"name":"Rex","categoryId":1,"status":"available"}
   * ```
   */
  next(filter?: RequestFilter, options?: NextRequestOptions): Promise<RecordedRequest>
  /**
   * Returns how many requests of the journal fit the filter.
   * @throws {PetStoreError} `invalid_option`
   */
  count(filter?: RequestFilter): number
}

const requestFilter = optionsOf<RequestFilter>({
  operation: z.optional(oneOf(...operationNames)),
  status: z.optional(wholeNumber(100, 599)),
  after: z.optional(wholeNumber(0)),
})
const isSignal = (value: unknown) => typeof Object(value).addEventListener === 'function'
const nextOptions = optionsOf<NextRequestOptions>({
  signal: z.optional(z.custom<AbortSignal>(isSignal, expecting('an AbortSignal'))),
  timeout: z.optional(milliseconds),
})

export function createJournal(clock: Clock) {
  const entries: RecordedRequest[] = []
  const returned = new WeakSet<RecordedRequest>()
  /** Called after each response. */
  const listeners = new Set<() => void>()
  let lastId = 0

  /** Returns the requests that fit the filter, the oldest first. */
  function select(filter: RequestFilter): RecordedRequest[] {
    const { operation, status, after = 0 } = filter
    return entries.filter(
      (entry) =>
        entry.id > after &&
        (operation === undefined || entry.operation === operation) &&
        (status === undefined || entry.response?.status === status),
    )
  }

  /**
   * Returns what `look` returns as soon as it is not `undefined`. Calls `look` now and after each
   * response.
   */
  function until<T>(look: () => T | undefined, signal: AbortSignal | undefined): Promise<T> {
    return untilAborted(signal, (resolve) => {
      const listener = () => {
        const found = look()
        if (found === undefined) return
        listeners.delete(listener)
        resolve(found)
      }
      listeners.add(listener)
      listener()
      return () => listeners.delete(listener)
    })
  }

  async function waitFor<T>(look: () => T | undefined, description: string, options: NextRequestOptions): Promise<T> {
    const { timeout, signal } = options
    if (timeout === undefined) return until(look, signal)
    const limit = new AbortController()
    const found = untilAborted<T>(signal, (resolve, reject) => {
      until(look, limit.signal).then(resolve, reject)
      return () => limit.abort()
    })
    return withTimeout(found, timeout, () => {
      limit.abort()
      const latest = entries
        .slice(-LISTED)
        .map(({ method, path, response }) => `${method} ${path} ${response?.status ?? 'without a response'}`)
      const journal = latest.length === 0 ? 'is empty' : `ends with ${latest.join(', ')}`
      return new PetStoreError(
        'request_timeout',
        `No request ${description} got a response within ${timeout} ms. The journal ${journal}.`,
      )
    })
  }

  // Not enumerable, because a test may compare the list with an array.
  const requests = Object.defineProperties(entries, {
    next: {
      value: async (given: RequestFilter = {}, options: NextRequestOptions = {}) => {
        const filter = parseOptions(requestFilter, given)
        const look = () => {
          const found = select(filter).find((entry) => entry.response !== undefined && !returned.has(entry))
          if (found) returned.add(found)
          return found
        }
        return waitFor(look, `that fits ${JSON.stringify(filter)}`, parseOptions(nextOptions, options))
      },
    },
    count: { value: (filter: RequestFilter = {}) => select(parseOptions(requestFilter, filter)).length },
  }) as unknown as RequestJournal

  return {
    requests,
    select,
    /** Waits until a request with a response fits the filter, or until the time is over. */
    async waitUntil(filter: RequestFilter, timeout: number, signal: AbortSignal | undefined): Promise<void> {
      const look = () => select(filter).find(({ response }) => response !== undefined)
      await waitFor(look, '', { timeout, signal }).catch(() => {})
    },
    clear() {
      entries.length = 0
    },
    /**
     * Returns a handler that also adds each request to the journal. Removes the oldest entry if
     * there are more than 1,000.
     */
    record: (handle: PetStore['handle'], basePath: () => string) => async (request: ApiRequest) => {
      lastId += 1
      const entry = {
        id: lastId,
        operation: matchRoute(request.method, readTarget(request, basePath()).route).operation,
        method: request.method,
        path: originForm(request.target),
        header: (name: string) => request.header(name.toLowerCase()),
        body: '',
        time: clock.now(),
        requestId: undefined as string | undefined,
        response: undefined as RecordedResponse | undefined,
      }
      entries.push(entry)
      if (entries.length > MAX_ENTRIES) entries.shift()
      const copying = withBodyCopy(request, (body) => {
        entry.body = new TextDecoder().decode(body)
      })
      const response = await handle(copying)
      entry.requestId = requestIdIn(response)
      entry.response = { status: response.status, headers: headersOf(response), body: response.body }
      for (const listener of listeners) listener()
      return response
    },
  }
}

/**
 * Returns the headers by their names in lower case. Does not use `Headers`, which jsdom does not
 * have.
 */
function headersOf({ headers }: ApiResponse): Record<string, string> {
  const joined: Record<string, string> = {}
  for (let i = 0; i < headers.length; i += 2) {
    const name = String(headers[i]).toLowerCase()
    const value = String(headers[i + 1])
    joined[name] = name in joined ? `${joined[name]}, ${value}` : value
  }
  return joined
}

/** Returns a request that calls `keep` with its body when the store reads the body. */
export function withBodyCopy(request: ApiRequest, keep: (body: Uint8Array) => void): ApiRequest {
  const body: ApiRequest['body'] = async (limit) => {
    const bytes = await request.body(limit)
    keep(bytes)
    return bytes
  }
  return wrapRequest(request, { body })
}
