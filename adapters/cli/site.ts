import { createHash } from 'node:crypto'
import { originForm, pathOf } from '../../src/http/request.ts'
import { jsonResponse } from '../../src/http/response.ts'
import type { ApiRequest, ApiResponse, BackEnd, PetStore } from '../../src/index.ts'
import { newToken } from '../../src/keys/token.ts'
import { withTimeout } from '../../src/support/with-timeout.ts'
import type { BytesResponse } from '../hosts/node/write-response.ts'
import { reason } from './driver.ts'
import { report } from './output.ts'

/** A handler for a page or a document outside the base path. It gets only GET and HEAD requests. */
export type SiteRoute = (request: ApiRequest) => ApiResponse | Promise<ApiResponse>

/** Routes by path, such as `/health`. */
export type SiteRoutes = Readonly<Record<string, SiteRoute>>

/** Returns a pet store with more routes. Requests to these routes need no key and are not counted. */
export function withSite(petStore: PetStore, routes: SiteRoutes): PetStore {
  const byPath = new Map(Object.entries(routes))
  const handle: PetStore['handle'] = async (request) => {
    const route = byPath.get(pathOf(originForm(request.target)))
    return route === undefined ? petStore.handle(request) : respond(route, request)
  }
  return { ...petStore, handle }
}

async function respond(route: SiteRoute, request: ApiRequest): Promise<ApiResponse> {
  const { method } = request
  if (method !== 'GET' && method !== 'HEAD') return { status: 405, headers: ['Allow', 'GET, HEAD'], body: '' }
  const response = await route(request)
  const headers = [...response.headers, 'X-Content-Type-Options', 'nosniff']
  return method === 'HEAD' ? { status: response.status, headers, body: '' } : { ...response, headers }
}

/** A document that the server sends with an entity tag. */
export interface SharedDocument {
  readonly bytes: Uint8Array
  readonly tag: string
}

/** Returns a document. All of its responses share its bytes. */
export function sharedDocument(content: string | Uint8Array): SharedDocument {
  const bytes = Buffer.from(content)
  return { bytes, tag: `"${createHash('sha256').update(bytes).digest('base64url')}"` }
}

/** Responds with a document, or with 304 if the client has it (RFC 9110, section 13.1.2). */
export function documentResponse({ bytes, tag }: SharedDocument, request: ApiRequest, headers: readonly string[]) {
  const known = (request.header('if-none-match') ?? '').split(',').map((one) => one.trim().replace(/^W\//, ''))
  const tagged = [...headers, 'ETag', tag, 'Cache-Control', 'no-cache']
  if (known.includes(tag) || known.includes('*')) return { status: 304, headers: tagged, body: '' } as const
  return { status: 200, headers: tagged, body: '', bytes } satisfies BytesResponse
}

/** Returns whether a reverse proxy has passed a request on. */
export function isProxied(request: ApiRequest): boolean {
  return ['forwarded', 'via', 'x-forwarded-for'].some((name) => request.header(name) !== undefined)
}

/** Returns the routes that every server has: health checks and an empty favicon. */
export function operatingRoutes(checkReady: ReadyCheck): SiteRoutes {
  return {
    '/health': () => jsonResponse(200, '{"status":"ok"}'),
    '/ready': async () => {
      const failing = await checkReady()
      const isReady = failing.length === 0
      return jsonResponse(isReady ? 200 : 503, JSON.stringify({ status: isReady ? 'ok' : 'unavailable', failing }))
    },
    '/favicon.ico': () => ({ status: 204, headers: ['Cache-Control', 'max-age=86400'], body: '' }),
  }
}

/** Returns the names of the failing parts of the back end. */
export type ReadyCheck = () => Promise<readonly string[]>

export interface ReadyOptions {
  readonly now?: () => number
  /** How long a check of one part may take, in milliseconds. */
  readonly timeout?: number
  /** Called for each failing part, with the cause. */
  readonly onFailure?: (part: string, cause: string) => void
}

/** How long a result is reused, in milliseconds, so that frequent health checks do not burden the back end. */
const REUSED_FOR = 1_000

/** Returns a function that checks each part of the back end with one call. */
export function readyCheck(
  { storage, keyStore, quota }: BackEnd,
  { now = Date.now, timeout = 2_000, onFailure = logFailure }: ReadyOptions = {},
): ReadyCheck {
  const probes: Readonly<Record<string, () => unknown>> = {
    storage: () => storage.list({ limit: 1 }),
    // The token is new, so no cache knows it, and the key store itself has to respond.
    keys: () => keyStore.find(newToken()),
    quota: () =>
      quota.spend({
        subject: 'petstore:ready',
        anonymous: true,
        limits: { perMinute: 1_000_000, perDay: 1_000_000_000 },
        ban: false,
        now: now(),
      }),
  }
  const check = async () => {
    const results = await Promise.all(
      Object.entries(probes).map(async ([part, probe]) => {
        const cause = await failureOf(probe, timeout)
        if (cause !== undefined) onFailure(part, cause)
        return cause === undefined ? [] : [part]
      }),
    )
    return results.flat()
  }
  let checkedAt = Number.NEGATIVE_INFINITY
  let result: Promise<readonly string[]> = Promise.resolve([])
  let isRunning = false
  return () => {
    if (!isRunning && Math.abs(now() - checkedAt) >= REUSED_FOR) {
      isRunning = true
      result = check().finally(() => {
        isRunning = false
        checkedAt = now()
      })
    }
    return result
  }
}

async function failureOf(probe: () => unknown, timeout: number): Promise<string | undefined> {
  try {
    await withTimeout((async () => probe())(), timeout, () => new Error(`no response within ${timeout} ms`))
    return undefined
  } catch (error) {
    return reason(error)
  }
}

function logFailure(part: string, cause: string): void {
  report(`/ready: ${part}: ${cause}`)
}
