import { readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { originForm, pathOf } from '../../../src/http/request.ts'
import { errorResponse, jsonResponse } from '../../../src/http/response.ts'
import type { ApiRequest, ApiResponse, Usage } from '../../../src/index.ts'
import type { SiteRoute, SiteRoutes } from '../../hosts/node/site.ts'
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

/** The values that the page asks the server for every second. */
export interface Settings {
  readonly basePath: string
  /** How often a test has reset the store. */
  readonly resets: number
  /** Whether the request had the secret. Without it, `demoKeys` and `requests` are empty. */
  readonly hasSecret: boolean
  readonly demoKeys: readonly DemoKey[]
  /** The requests that are new to the page, the oldest first. */
  readonly requests: readonly LoggedRequest[]
}

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const PAGE_HEADERS = [
  ...['Content-Security-Policy', POLICY],
  ...['Cross-Origin-Opener-Policy', 'same-origin'],
  ...['Referrer-Policy', 'no-referrer'],
]

const FILES = ['page.css', 'live.js', 'icon.svg']

export function pageRoutes(options: PageOptions): SiteRoutes {
  const { folder = fileURLToPath(new URL('page', import.meta.url)), resets = () => 0 } = options
  const isOpenedFromTerminal = (request: ApiRequest) =>
    isFromThisMachine(request) && isSecret(request.header('petstore-secret'), options.secret)
  const files = new Map(FILES.map((name) => [name, fileRoute(folder, name)]))
  return {
    '/': fileRoute(folder, 'index.html'),
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
      } satisfies Settings)
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

/** The file is read at the first request, so that it does not delay the start. */
function fileRoute(folder: string, name: string): SiteRoute {
  let document: SharedDocument | undefined
  return (request) => {
    document ??= sharedDocument(readFileSync(join(folder, name)))
    return documentResponse(document, request, ['Content-Type', TYPES[extname(name)] as string, ...PAGE_HEADERS])
  }
}
