import { type ApiRequest, originForm, wrapRequest } from '../../http/request.ts'
import { requestIdIn } from '../../http/request-id.ts'
import type { ApiResponse } from '../../http/response.ts'
import type { PetStore } from '../../pet-store.ts'
import type { Clock } from '../../ports.ts'

const MAX_ENTRIES = 1_000

/** A request to the test store. */
export interface RecordedRequest {
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

/**
 * Returns a handler that also adds each request to the journal. Removes the oldest entry if there
 * are more than 1,000.
 */
export function recordRequests(handle: PetStore['handle'], clock: Clock, journal: RecordedRequest[]) {
  return async (request: ApiRequest) => {
    const entry = {
      method: request.method,
      path: originForm(request.target),
      header: (name: string) => request.header(name.toLowerCase()),
      body: '',
      time: clock.now(),
      requestId: undefined as string | undefined,
      response: undefined as RecordedResponse | undefined,
    }
    journal.push(entry)
    if (journal.length > MAX_ENTRIES) journal.shift()
    const copying = withBodyCopy(request, (body) => {
      entry.body = new TextDecoder().decode(body)
    })
    const response = await handle(copying)
    entry.requestId = requestIdIn(response)
    entry.response = { status: response.status, headers: headersOf(response), body: response.body }
    return response
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
