import { originForm, pathOf } from '../../../src/http/request.ts'
import type { ApiKey, ApiRequest, PetStore } from '../../../src/index.ts'
import { withBodyCopy } from '../../../src/testing/journal.ts'
import { withPlainWords } from '../log.ts'
import { withoutTokens } from '../output.ts'

/** A request to the API and its response, as the page shows them. They contain no token. */
export interface LoggedRequest {
  /** The position in the log. The first request has 1. */
  readonly id: number
  /** When the request arrived, in milliseconds since the Unix epoch. */
  readonly time: number
  readonly durationMs: number
  readonly method: string
  readonly target: string
  /** Those request headers that explain the response, without `Authorization`. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Whether the request had a bearer token. */
  readonly hasToken: boolean
  /** The valid key of the request. */
  readonly key?: Pick<ApiKey, 'id' | 'plan' | 'label'> | undefined
  readonly status: number
  /** Names and values in turn. */
  readonly responseHeaders: readonly string[]
  readonly responseBody: string
  /** Whether a text was too long and has been cut. */
  readonly isCut: boolean
}

/** A pet store that remembers its last requests. */
export interface LoggedStore extends PetStore {
  /** Returns the requests after one with this id, the oldest first. Everything that looks like a token is masked. */
  requestsAfter(id: number): readonly LoggedRequest[]
}

/** The number of requests that are remembered. */
const MAX_REQUESTS = 100

/** The longest target and the longest body that are remembered, in UTF-16 code units. A page of 100 animals fits. */
const MAX_TARGET = 1_000
const MAX_BODY = 10_000

/** The request headers that are remembered. Any other header may contain a secret. */
const HEADERS = ['Accept', 'Content-Type', 'Expect', 'Idempotency-Key', 'Origin', 'User-Agent']
const MAX_HEADER = 200

/** The query parameters whose values are remembered. Clients put tokens into others by mistake. */
const PARAMETERS: readonly string[] = ['limit', 'status', 'cursor']

/** A shorter token is no secret, and to mask it would make the log illegible. */
const MIN_SECRET_LENGTH = 8

/** @param keyOf - returns the key of a token with which a request was served */
export function logRequests(petStore: PetStore, keyOf: (token: string) => ApiKey | undefined): LoggedStore {
  const log: LoggedRequest[] = []
  let id = 0
  const handle: PetStore['handle'] = async (request) => {
    const time = Date.now()
    const startedAt = performance.now()
    let received = ''
    const response = await petStore.handle(
      withBodyCopy(request, (text) => {
        received = text
      }),
    )
    const token = /^bearer +(\S+)$/i.exec(request.header('authorization') ?? '')?.[1]
    const key = token === undefined ? undefined : keyOf(token)
    let isCut = false
    const kept = (text: string, length: number) => {
      const safe = token !== undefined && token.length >= MIN_SECRET_LENGTH ? without(token, text) : text
      if (safe.length <= length) return safe
      isCut = true
      return safe.slice(0, length)
    }
    const entry = {
      id: ++id,
      time,
      durationMs: Math.round((performance.now() - startedAt) * 10) / 10,
      method: request.method,
      target: kept(withoutForeignValues(originForm(request.target)), MAX_TARGET),
      headers: shownHeaders(request, kept),
      body: kept(received, MAX_BODY),
      hasToken: token !== undefined,
      key: key && { id: key.id, plan: key.plan, label: key.label },
      status: response.status,
      responseHeaders: response.headers.map((text) => kept(text, MAX_TARGET)),
      responseBody: kept(response.body, MAX_BODY),
    }
    log.push({ ...entry, isCut })
    if (log.length > MAX_REQUESTS) log.shift()
    return response
  }
  // Masked here and not above, because only few requests are shown, and masking takes longer than everything else.
  const requestsAfter = (last: number) =>
    JSON.parse(JSON.stringify(log.filter(({ id }) => id > last)), (_, value) =>
      typeof value === 'string' ? masked(value) : value,
    )
  return { ...petStore, handle, requestsAfter }
}

/** Replaces a token, also one with percent-encoded letters. */
function without(token: string, text: string): string {
  const plain = withPlainWords(text)
  return plain.includes(token) ? plain.replaceAll(token, '***') : text
}

function masked(text: string): string {
  const plain = withPlainWords(text)
  const safe = withoutTokens(plain)
  return safe === plain ? text : safe
}

/** Replaces each parameter of a query that the API does not have. */
function withoutForeignValues(target: string): string {
  const path = pathOf(target)
  if (path.length === target.length) return target
  const pairs = target.slice(path.length + 1).split('&')
  return `${path}?${pairs.map((pair) => (PARAMETERS.includes(pair.split('=')[0] ?? '') ? pair : '***')).join('&')}`
}

function shownHeaders(request: ApiRequest, kept: (text: string, length: number) => string): Record<string, string> {
  const pairs = HEADERS.map((name) => [name, request.header(name.toLowerCase())] as const)
  return Object.fromEntries(
    pairs.flatMap(([name, value]) => (value === undefined ? [] : [[name, kept(value, MAX_HEADER)]])),
  )
}
