import { readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { originForm, pathOf } from '../../../src/http/request.ts'
import { errorResponse, jsonResponse } from '../../../src/http/response.ts'
import type { ApiRequest, ApiResponse, Usage } from '../../../src/index.ts'
import { assets } from '../../../src/openapi/reference/assets.ts'
import type { SiteRoute, SiteRoutes } from '../../hosts/node/serve.ts'
import { livePage } from './live-page.ts'
import type { LoggedRequest } from './request-log.ts'
import { documentResponse, type SharedDocument, sharedDocument } from './shared-document.ts'
import { isFromThisMachine, isSecret, sentToken } from './visitor.ts'

export interface DemoKey {
  readonly id: string
  readonly plan: string
  readonly token: string
}

export interface PageOptions {
  readonly basePath: string
  /** The secret in the page's URL. Without it, a browser sees no demo keys, no usage and no log. */
  readonly secret: string
  /** Returns keys that the page offers to its visitor. They must be useless on other machines. */
  readonly demoKeys: () => readonly DemoKey[]
  /** Returns the usage of a token's key; `undefined` if the token is not valid. */
  readonly usageOf: (token: string) => Promise<Usage | undefined>
  readonly requestsAfter: (id: number) => readonly LoggedRequest[]
  /** The folder that contains the page's files. @default 'page', beside the bundled command */
  readonly folder?: string
  /** How often a test has reset the store. The page then forgets what it shows. @default 0 */
  readonly resets?: () => number
}

/** `data:` is for the icon. `style-src` blocks inline styles, but not `element.style`. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const PRIVACY = ['Referrer-Policy', 'no-referrer', 'Cross-Origin-Opener-Policy', 'same-origin']

const PAGE_HEADERS = ['Content-Security-Policy', POLICY, ...PRIVACY]

/** The reference brings its own policy, but a policy in a page cannot set `frame-ancestors`. */
export const REFERENCE_HEADERS = ['Content-Security-Policy', "frame-ancestors 'none'", ...PRIVACY]

const FILES = ['live.css', 'animals.css', 'log.css', 'live.js']
const SHARED_FILES = ['page.css', 'controls.css', 'page.js', 'icon.svg'] as const

export function pageRoutes(options: PageOptions): SiteRoutes {
  const { folder = fileURLToPath(new URL('page', import.meta.url)), resets = () => 0 } = options
  const isOpenedFromTerminal = (request: ApiRequest) =>
    isFromThisMachine(request) && isSecret(request.header('petstore-secret'), options.secret)
  const own = FILES.map((name) => [name, () => readFileSync(join(folder, name))] as const)
  const shared = SHARED_FILES.map((name) => [name, () => assets[name]] as const)
  const files = new Map([...own, ...shared].map(([name, read]) => [name, textRoute(name, read)]))
  return {
    '/': textRoute('live.html', livePage),
    '/page/settings.json': (request) => {
      const hasSecret = isOpenedFromTerminal(request)
      const target = originForm(request.target)
      const after = Number(new URLSearchParams(target.slice(pathOf(target).length)).get('after'))
      const forVisitor = { demoKeys: options.demoKeys(), requests: options.requestsAfter(after) }
      return privateJson({
        basePath: options.basePath,
        resets: resets(),
        hasSecret,
        ...(hasSecret ? forVisitor : { demoKeys: [], requests: [] }),
      })
    },
    '/page/:name': (request, parameters) => files.get(parameters.name ?? '')?.(request, parameters),
    '/usage': async (request) => {
      const token = sentToken(request)
      // Without this check, anybody could guess tokens: a response shows whether a token is valid,
      // and no limit counts the requests.
      if (!isOpenedFromTerminal(request)) return errorResponse('route_not_found')
      if (token === undefined) return errorResponse('missing_api_key', ['WWW-Authenticate', 'Bearer realm="petstore"'])
      return options.usageOf(token).then(
        (usage) => privateJson(usage ?? null),
        () => errorResponse('service_unavailable'),
      )
    },
  }
}

function privateJson(value: unknown): ApiResponse {
  return jsonResponse(200, JSON.stringify(value), ['Cross-Origin-Resource-Policy', 'same-origin'])
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** The text is read at the first request, so that it does not delay the start. */
function textRoute(name: string, read: () => string | Uint8Array): SiteRoute {
  let document: SharedDocument | undefined
  return (request) => {
    document ??= sharedDocument(read())
    return documentResponse(document, request, ['Content-Type', TYPES[extname(name)] as string, ...PAGE_HEADERS])
  }
}
