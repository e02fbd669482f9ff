import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { PetStore } from '../../../src/index.ts'
import { referenceHtml, VIEWER } from '../../../src/openapi/reference.ts'
import type { SiteRoute, SiteRoutes } from '../../hosts/node/site.ts'
import { documentResponse, sharedDocument } from '../page/shared-document.ts'

const SCRIPT_PATH = '/reference/scalar.js'

/** The document there has the address to which the request was sent, as in the samples of the viewer. */
const DOCUMENT = { documentUrl: '/openapi.json' }

/**
 * Returns the routes of the reference.
 * @param viewer - the file of an installed `@scalar/api-reference`; `undefined` to use the CDN
 */
export function referenceRoutes(petStore: PetStore, viewer: string | undefined): SiteRoutes {
  if (viewer === undefined) return { '/reference': pageRoute(referenceHtml(petStore, DOCUMENT), VIEWER.scriptUrl) }
  return {
    '/reference': pageRoute(referenceHtml(petStore, { ...DOCUMENT, scriptUrl: SCRIPT_PATH }), "'self'"),
    [SCRIPT_PATH]: scriptRoute(viewer),
  }
}

/** Returns the viewer's file that is installed in the current folder or beside this package. */
export function installedViewer(): string | undefined {
  for (const folder of [join(process.cwd(), 'petstore'), import.meta.url])
    try {
      return createRequire(folder).resolve('@scalar/api-reference/browser/standalone.js')
    } catch {
      // Not installed here.
    }
  return undefined
}

/**
 * The viewer is the code of others, and has the origin of the live page. It must not reach what
 * this page knows: the live page opens in no frame, its `Cross-Origin-Opener-Policy` differs, so
 * no window of the viewer keeps a reference to it, and no worker may start.
 */
function pageRoute(html: string, script: string): SiteRoute {
  const policy = [
    "default-src 'none'",
    `script-src ${script}`,
    "style-src 'unsafe-inline'",
    'img-src data:',
    "connect-src 'self'",
    "worker-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
  const page = sharedDocument(html)
  const headers = [
    ...['Content-Type', 'text/html; charset=utf-8'],
    ...['Content-Security-Policy', policy],
    ...['Cross-Origin-Opener-Policy', 'same-origin-allow-popups'],
    ...['Referrer-Policy', 'no-referrer'],
  ]
  return (request) => documentResponse(page, request, headers)
}

/** The file has some megabytes, so it is read at the first request. */
function scriptRoute(file: string): SiteRoute {
  let script: ReturnType<typeof sharedDocument> | undefined
  return (request) => {
    script ??= sharedDocument(readFileSync(file))
    return documentResponse(script, request, ['Content-Type', 'text/javascript; charset=utf-8'])
  }
}
