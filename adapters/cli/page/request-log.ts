import { STATUS_CODES } from 'node:http'
import { originForm, pathOf } from '../../../src/http/request.ts'
import type { ApiKey, ApiRequest, KeyStore, PetStore } from '../../../src/index.ts'
import type { pageParameters } from '../../../src/schemas/query.ts'
import { boundedMap } from '../../../src/support/bounded-map.ts'
import { readableLines, readableText } from '../../../src/support/readable-text.ts'
import { wrapPort } from '../../../src/support/wrap-port.ts'
import { withBodyCopy } from '../../../src/testing/store/journal.ts'
import { hashOf, sentToken } from './visitor.ts'

/** A request to the API and its response, without tokens. */
export interface LoggedRequest {
  /** The position in the log. The first request has 1. */
  readonly id: number
  /** When the request arrived, in milliseconds since the Unix epoch. */
  readonly time: number
  readonly durationMs: number
  readonly method: string
  readonly target: string
  /** Only the request headers that explain the response. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly hasToken: boolean
  /** `undefined` if the request has no valid key. */
  readonly key?: Pick<ApiKey, 'id' | 'plan' | 'label'> | undefined
  readonly status: number
  /** The reason phrase; empty if a proxy uses HTTP/2. */
  readonly reason: string
  /** Names and values, alternating. */
  readonly responseHeaders: readonly string[]
  readonly responseBody: string
  /** Whether a text was too long and has been cut. */
  readonly isCut: boolean
}

/** A change of an animal by the visitor of the page. It is not a request to the API. */
export interface LoggedChange {
  /** The position in the log, which has requests and changes. */
  readonly id: number
  /** When the animal was changed, in milliseconds since the Unix epoch. */
  readonly time: number
  /** The same change in code, such as `petStore.pets.remove(7n)`. */
  readonly call: string
  /** The animal as JSON: `JSON.parse` would round its numbers. */
  readonly pet: string
  readonly isRemoved: boolean
}

export type LogEntry = LoggedRequest | LoggedChange

export interface LoggedStore extends PetStore {
  /** Returns the entries with a greater id, the oldest first. Their tokens are masked. */
  entriesAfter(id: number): readonly LogEntry[]
  /** Adds a change to the log. */
  logChange(change: Pick<LoggedChange, 'call' | 'pet' | 'isRemoved'>): void
}

const MAX_KEYS = 10_000
const MAX_REQUESTS = 100
/** The largest total length of the texts of all remembered requests, in UTF-16 code units. */
const MAX_LENGTH = 1_000_000

/** In UTF-16 code units. A response body with 100 animals fits. */
const MAX_TARGET = 1_000
const MAX_BODY = 10_000

/** The request headers that are remembered. Any other header may contain a secret. */
const HEADERS = ['Accept', 'Content-Type', 'Expect', 'Idempotency-Key', 'Origin', 'User-Agent']
const MAX_HEADER = 200

/**
 * Whether the log shows the value of a query parameter. Any other parameter may contain a token by
 * mistake.
 */
const isShown = { limit: true, status: true, cursor: true } satisfies Record<keyof typeof pageParameters, boolean>
const PARAMETERS = new Map<string, boolean>(Object.entries(isShown))

/** The longest token that is also masked in the other texts of its request, such as the body. */
const MAX_TOKEN = 200

interface RememberedEntry {
  /** The texts are cut, but tokens are not masked yet. */
  readonly entry: LogEntry
  /** The texts to mask when the entry is shown. */
  readonly secrets: readonly string[]
  readonly length: number
}

/** Returns the key store, and a function for the key of a token that was valid when last used. */
export function rememberKeys(keyStore: KeyStore) {
  const keys = boundedMap<ApiKey>(MAX_KEYS)
  const watched = wrapPort(keyStore, {
    async find(call, token) {
      const key = await call()
      if (key) keys.set(hashOf(token), key)
      else keys.delete(hashOf(token))
      return key
    },
  })
  return { keyStore: watched, keyOf: (token: string) => keys.get(hashOf(token)) }
}

/** @param fixedTokens - texts to mask although they do not look like tokens: those of `--key` */
export function logRequests(
  petStore: PetStore,
  keyOf: (token: string) => ApiKey | undefined,
  fixedTokens: readonly string[] = [],
): LoggedStore {
  const log: RememberedEntry[] = []
  let length = 0
  let id = 0

  function remember(entry: LogEntry, texts: readonly string[], secrets: readonly string[] = []): void {
    const remembered = { entry, secrets, length: texts.join('').length }
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
    const token = sentToken(request)
    const key = token === undefined ? undefined : keyOf(token)
    const secrets = token === undefined || token.length > MAX_TOKEN ? fixedTokens : [...fixedTokens, token]
    let isCut = false
    const kept = (text: string, longest: number) => {
      if (text.length <= longest) return text
      isCut = true
      // Keeps one more UTF-16 unit than is shown: it tells the masking that the text was cut.
      // Copies the slice: V8 would keep the whole text in memory for a plain slice.
      return Buffer.from(text.slice(0, longest + 1)).toString()
    }
    // UTF-8 has at most three bytes for each UTF-16 code unit, so these bytes are enough.
    const body = new TextDecoder().decode(received.subarray(0, 3 * (MAX_BODY + 1)))
    id += 1
    const entry = {
      id,
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
    const { target, headers, responseHeaders, responseBody } = entry
    const texts = [target, entry.body, responseBody, ...Object.values(headers), ...responseHeaders]
    remember({ ...entry, isCut }, texts, secrets)
    return response
  }
  return {
    ...petStore,
    handle,
    // Secrets are masked only now, because only few entries are shown.
    entriesAfter: (last) =>
      log
        .filter(({ entry }) => entry.id > last)
        .map(({ entry, secrets }) => ('call' in entry ? entry : readable(entry, secrets))),
    logChange(change) {
      id += 1
      remember({ id, time: Date.now(), ...change }, [change.call, change.pet])
    },
  }
}

function readable(entry: LoggedRequest, secrets: readonly string[]): LoggedRequest {
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

/** Masks each query parameter that may not be shown. */
function withoutForeignValues(target: string): string {
  const path = pathOf(target)
  if (path.length === target.length) return target
  const pairs = target.slice(path.length + 1).split('&')
  return `${path}?${pairs.map((pair) => (PARAMETERS.get(pair.split('=')[0] ?? '') ? pair : '***')).join('&')}`
}

function shownHeaders(request: ApiRequest, kept: (text: string, length: number) => string): Record<string, string> {
  const pairs = HEADERS.map((name) => [name, request.header(name.toLowerCase())] as const)
  return Object.fromEntries(
    pairs.flatMap(([name, value]) => (value === undefined ? [] : [[name, kept(value, MAX_HEADER)]])),
  )
}
