import { STATUS_CODES } from 'node:http'
import { originForm, pathOf } from '../../../src/http/request.ts'
import type { ApiKey, ApiRequest, PetStore } from '../../../src/index.ts'
import { readableLines, readableText, readLength } from '../../../src/support/readable-text.ts'
import { withBodyCopy } from '../../../src/testing/journal.ts'

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
  /** The reason phrase; empty if a proxy uses HTTP/2. */
  readonly reason: string
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

/** How many requests are remembered, and the length of all their texts, in UTF-16 code units. */
const MAX_REQUESTS = 100
const MAX_LENGTH = 1_000_000

/** The longest target and the longest body that are shown, in UTF-16 code units. A page of 100 animals fits. */
const MAX_TARGET = 1_000
const MAX_BODY = 10_000

/** The request headers that are remembered. Any other header may contain a secret. */
const HEADERS = ['Accept', 'Content-Type', 'Expect', 'Idempotency-Key', 'Origin', 'User-Agent']
const MAX_HEADER = 200

/** The query parameters whose values are remembered. Clients put tokens into others by mistake. */
const PARAMETERS: readonly string[] = ['limit', 'status', 'cursor']

/** A longer token of a request is not looked for in its other texts. */
const MAX_TOKEN = 200

/** A remembered request. Its texts are as they arrived, but cut. */
interface RememberedRequest {
  readonly entry: LoggedRequest
  /** The texts to mask when the request is shown. */
  readonly secrets: readonly string[]
  readonly length: number
}

/**
 * @param keyOf - returns the key of a token with which a request was served
 * @param fixedTokens - other texts to mask, such as the tokens of `--key`
 */
export function logRequests(
  petStore: PetStore,
  keyOf: (token: string) => ApiKey | undefined,
  fixedTokens: readonly string[] = [],
): LoggedStore {
  const log: RememberedRequest[] = []
  let length = 0
  let id = 0

  function remember(entry: LoggedRequest, secrets: readonly string[]): void {
    const texts = [entry.target, entry.body, entry.responseBody, ...entry.responseHeaders]
    const remembered = { entry, secrets, length: lengthOf(texts) + lengthOf(Object.values(entry.headers)) }
    length += remembered.length
    log.push(remembered)
    while (log.length > MAX_REQUESTS || length > MAX_LENGTH) length -= log.shift()?.length ?? 0
  }

  const handle: PetStore['handle'] = async (request) => {
    const time = Date.now()
    const startedAt = performance.now()
    let received: Uint8Array = new Uint8Array()
    const response = await petStore.handle(
      withBodyCopy(request, (bytes) => {
        received = bytes
      }),
    )
    const token = /^bearer +(\S+)$/i.exec(request.header('authorization') ?? '')?.[1]
    const key = token === undefined ? undefined : keyOf(token)
    const secrets = token === undefined || token.length > MAX_TOKEN ? fixedTokens : [...fixedTokens, token]
    let isCut = false
    const kept = (text: string, longest: number) => {
      if (text.length > longest) isCut = true
      const read = readLength(longest, secrets)
      // A slice would keep the whole text in memory.
      return text.length > read ? Buffer.from(text.slice(0, read + 1)).toString() : text
    }
    // A character has at most three bytes for each UTF-16 code unit.
    const body = new TextDecoder().decode(received.subarray(0, 3 * readLength(MAX_BODY, secrets)))
    const entry = {
      id: ++id,
      time,
      durationMs: Math.round((performance.now() - startedAt) * 10) / 10,
      method: request.method,
      target: kept(originForm(request.target), MAX_TARGET),
      headers: shownHeaders(request, kept),
      body: kept(body, MAX_BODY),
      hasToken: token !== undefined,
      key: key && { id: key.id, plan: key.plan, label: key.label },
      status: response.status,
      reason: STATUS_CODES[response.status] ?? '',
      responseHeaders: response.headers.map((text) => kept(text, MAX_TARGET)),
      responseBody: kept(response.body, MAX_BODY),
    }
    remember({ ...entry, isCut }, secrets)
    return response
  }
  // Masked here and not above, because only few requests are shown, and masking takes longer than everything else.
  const requestsAfter = (last: number) => log.filter(({ entry }) => entry.id > last).map(readable)
  return { ...petStore, handle, requestsAfter }
}

function lengthOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.length, 0)
}

/** Returns a request as it is shown. */
function readable({ entry, secrets }: RememberedRequest): LoggedRequest {
  const { key, headers } = entry
  const line = (text: string, longest: number) => readableText(text, longest, secrets)
  return {
    ...entry,
    method: line(entry.method, MAX_HEADER),
    target: withoutForeignValues(line(entry.target, MAX_TARGET)),
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, line(value, MAX_HEADER)])),
    body: readableLines(entry.body, MAX_BODY, secrets),
    key: key && { ...key, label: key.label === undefined ? undefined : line(key.label, MAX_HEADER) },
    responseHeaders: entry.responseHeaders.map((text) => line(text, MAX_TARGET)),
    responseBody: readableLines(entry.responseBody, MAX_BODY, secrets),
  }
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
