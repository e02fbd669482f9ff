import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { originForm, pathOf } from '../../../src/http/request.ts'
import { errorResponse, jsonResponse } from '../../../src/http/response.ts'
import type { ApiRequest, ApiResponse } from '../../../src/index.ts'
import type { SiteRoute, SiteRoutes } from '../../hosts/node/site.ts'
import { isSecret } from '../secret.ts'
import { documentResponse, isProxied, type SharedDocument, sharedDocument } from '../shared-document.ts'
import { consolePage } from './console-page.ts'
import { livePage } from './live-page.ts'
import type { LoggedRequest } from './request-log.ts'
import type { Usage } from './usage.ts'

/** A key that the page offers without asking the visitor for it. */
export interface DemoKey {
  readonly id: string
  readonly plan: string
  readonly token: string
}

export interface PageOptions {
  readonly basePath: string
  /** The secret in the page's address. Without it, a request gets no demo keys, no usage and no other requests. */
  readonly secret: string
  /** Returns the keys that the page offers. These keys must be useless outside this machine. */
  readonly demoKeys: () => readonly DemoKey[]
  /** Returns the usage of a token's key, if the key is valid and a request with the token was served. */
  readonly usageOf: (token: string) => Promise<Usage | undefined>
  /** Returns the requests to the API after one with this id. */
  readonly requestsAfter: (id: number) => readonly LoggedRequest[]
  /** The folder that contains the page's files. @default 'page', beside the bundled command */
  readonly folder?: string
  /** The folder of the package `swagger-ui-dist`; `undefined` if it is not installed. */
  readonly swaggerFolder: string | undefined
}

/**
 * The Content-Security-Policy. It allows files from this server only, and no inline scripts. Swagger UI's stylesheet contains
 * icons as `data:` images. The policy does not stop scripts from setting single style properties.
 */
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

/** The headers of every page and of its files. */
export const PAGE_HEADERS = [
  'Content-Security-Policy',
  POLICY,
  'Referrer-Policy',
  'no-referrer',
  'Cross-Origin-Opener-Policy',
  'same-origin',
]

const STYLES = ['page.css', 'controls.css', 'live.css', 'animals.css', 'log.css', 'reference.css']
const FILES = [...STYLES, 'icon.svg', 'live.js', 'reference.js']
const CONSOLE_FILES = ['console.css', 'console.js']
const SWAGGER_FILES = ['swagger-ui.css', 'swagger-ui-bundle.js']

/** Returns the routes for the page at the server's root, for the console if Swagger UI is installed, and for their files. */
export function pageRoutes(options: PageOptions): SiteRoutes {
  const { folder = fileURLToPath(new URL('page', import.meta.url)), swaggerFolder: swagger } = options
  const files = (from: string, names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [`/page/${name}`, file(join(from, name))]))
  const isOpenedFromTerminal = (request: ApiRequest) =>
    isFromThisMachine(request) && isSecret(request.header('petstore-secret'), options.secret)
  return {
    '/': textRoute('html', () => livePage(swagger !== undefined)),
    ...files(folder, FILES),
    ...(swagger !== undefined && {
      '/console': textRoute('html', consolePage),
      ...files(folder, CONSOLE_FILES),
      ...files(swagger, SWAGGER_FILES),
    }),
    '/page/settings.json': (request) => {
      const hasSecret = isOpenedFromTerminal(request)
      const target = originForm(request.target)
      const after = Number(new URLSearchParams(target.slice(pathOf(target).length)).get('after'))
      const forVisitor = { demoKeys: options.demoKeys(), requests: options.requestsAfter(after) }
      return privateJson({
        basePath: options.basePath,
        hasSecret,
        ...(hasSecret ? forVisitor : { demoKeys: [], requests: [] }),
      })
    },
    '/usage': async (request) => {
      const token = /^bearer +(\S+)$/i.exec(request.header('authorization') ?? '')?.[1]
      // The usage would tell anybody else whether a guessed token is valid, and no guess is counted.
      if (!isOpenedFromTerminal(request)) return errorResponse('route_not_found')
      if (token === undefined) return errorResponse('missing_api_key', ['WWW-Authenticate', 'Bearer realm="petstore"'])
      return privateJson((await options.usageOf(token)) ?? null)
    },
  }
}

/**
 * Returns whether a request comes from this machine and is addressed to a host name of this machine.
 *
 * A website may make its own host name point to 127.0.0.1 (DNS rebinding), to read every response of this server. Then the `Host`
 * header still contains the website's name. Requests from a reverse proxy do not count, because the proxy passes on requests of
 * other machines. A proxy that replaces `Host` and adds no header cannot be recognized, so routes also need a secret.
 */
export function isFromThisMachine(request: ApiRequest): boolean {
  const isLocalName = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i.test(request.header('host') ?? '')
  return !isProxied(request) && isLocalName && isLoopback(request.clientAddress ?? '')
}

/** Returns whether a server that listens on this address can be reached from this machine only. */
export function isLoopback(host: string): boolean {
  return /^(?:127(?:\.\d{1,3}){3}|::1|localhost)$/i.test(host)
}

function privateJson(value: unknown): ApiResponse {
  return jsonResponse(200, JSON.stringify(value), ['Cross-Origin-Resource-Policy', 'same-origin'])
}

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
}

/** Returns a route that responds with a file. */
function file(path: string): SiteRoute {
  return textRoute(path.slice(path.lastIndexOf('.') + 1), () => readFileSync(path))
}

/** Returns a route for a text. It is read at the first request, so that it does not delay the start. */
function textRoute(extension: string, read: () => string | Uint8Array): SiteRoute {
  let document: SharedDocument | undefined
  return (request) => {
    document ??= sharedDocument(read())
    return documentResponse(document, request, ['Content-Type', TYPES[extension] as string, ...PAGE_HEADERS])
  }
}

/** Returns the folder of Swagger UI, if it is installed beside this package or in the current folder. */
export function findSwagger(): string | undefined {
  for (const from of [import.meta.url, join(process.cwd(), 'petstore')]) {
    try {
      return dirname(createRequire(from).resolve('swagger-ui-dist/package.json'))
    } catch {}
  }
  return undefined
}
