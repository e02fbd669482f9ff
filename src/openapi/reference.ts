import * as z from 'zod/mini'
import type { PetStore } from '../pet-store.ts'
import { invalidOption, optionsOf, textThat } from '../schemas/options.ts'
import { parseOptions } from '../schemas/parse-options.ts'
import { isUrl } from '../support/text.ts'
import { openApiDocument } from './document.ts'

/** The options of {@link referenceHtml}. */
export interface ReferenceOptions {
  /** The title of the page. @default 'Pet store API' */
  readonly title?: string | undefined
  /**
   * The path or URL of another OpenAPI document, such as one to which you have added your own routes.
   * @default the page contains the document of the store
   */
  readonly documentUrl?: string | undefined
  /**
   * The path or URL of the viewer: the file `dist/browser/standalone.js` of the package
   * `@scalar/api-reference`.
   * @default the file on the CDN jsDelivr, in the version that this package was tested with
   */
  readonly scriptUrl?: string | undefined
  /**
   * The hash of the file at `scriptUrl`, as the attribute `integrity` of HTML. A browser does not
   * run a file with another hash.
   * @default none for your own `scriptUrl`; the file on jsDelivr always has one
   */
  readonly integrity?: string | undefined
}

/** The viewer, and the hash of its published file. */
export const VIEWER = {
  package: '@scalar/api-reference@1.46.4',
  scriptUrl: 'https://cdn.jsdelivr.net/npm/@scalar/api-reference@1.46.4/dist/browser/standalone.js',
  integrity: 'sha384-BbTs28WithFYxTDCiH0YPK5tv3MflhBVpABoMjfb9UqXa/hegSE9I4THoddKejMF',
}

/** Without these settings, the viewer loads fonts, and has links to services of its authors. */
const SETTINGS = {
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
}

const pathOrUrl = textThat(
  (text) => text.trim() !== '' && isUrl(text, 'https://a') && /^https?:$/.test(new URL(text, 'https://a').protocol),
  'a path or an http or https URL',
)

/** A browser ignores a hash that it cannot read, and runs any file (Subresource Integrity, section 3.3). */
const HASH = /^(?:sha256-[a-z\d+/]{43}=|sha384-[a-z\d+/]{64}|sha512-[a-z\d+/]{86}==)$/i

const referenceOptions = optionsOf<ReferenceOptions>({
  title: z.optional(textThat((text) => text.trim() !== '', 'a title')),
  documentUrl: z.optional(pathOrUrl),
  scriptUrl: z.optional(pathOrUrl),
  integrity: z.optional(textThat((text) => HASH.test(text), 'a hash such as "sha384-…" in Base64')),
})

/**
 * Returns an HTML page that shows the OpenAPI document of a store with Scalar, a well-known viewer: all
 * operations, with samples in many languages, and a form that sends them. The page contains the
 * document. See "The reference page" in `docs/mounting.md`.
 * @throws {PetStoreError} `invalid_option`, with the name of the option
 * @example
 * ```ts
 * import { createPetStore } from 'petstore-kit'
 * import { referenceHtml } from 'petstore-kit/openapi'
 *
 * const petStore = createPetStore()
 * const page = referenceHtml(petStore, { title: 'Shop API' })
 * const response = new Response(page, { headers: { 'content-type': 'text/html; charset=utf-8' } })
 * console.log(response.status) // 200
 * ```
 */
export function referenceHtml(petStore: PetStore, given: ReferenceOptions = {}): string {
  const options = parseOptions(referenceOptions, given)
  if (options.integrity !== undefined && options.scriptUrl === undefined)
    throw invalidOption('integrity', 'a scriptUrl beside it, whose file has this hash', options.integrity)
  const { title = 'Pet store API', documentUrl, scriptUrl = VIEWER.scriptUrl } = options
  const integrity = options.scriptUrl === undefined ? VIEWER.integrity : options.integrity
  const file = escaped(scriptUrl)
  // Without `crossorigin`, a browser cannot read the file of another host, and refuses its hash.
  const hash = integrity === undefined ? '' : ` integrity="${integrity}" crossorigin="anonymous"`
  // The viewer inserts a `div` before `#api-reference`. The text after the scripts stays hidden then.
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${escaped(title)}</title>
    <style>
      div + #api-reference ~ p { display: none }
    </style>
  </head>
  <body>
    ${documentElement(petStore, documentUrl)}
    <script src="${file}"${hash}></script>
    <p>
      This page needs JavaScript and the file <a href="${file}">${file}</a>, which your browser could not load, or which is
      not the expected one. Without a network, petstore serve uses an installed copy: run npm install ${VIEWER.package},
      and start it again. In a server of your own, serve the file dist/browser/standalone.js of this package, and pass its
      path as scriptUrl.
    </p>
  </body>
</html>
`
}

/** Returns the element that tells the viewer its document: as its text, or as an address. */
function documentElement(petStore: PetStore, documentUrl: string | undefined): string {
  const settings = `data-configuration="${escaped(JSON.stringify(SETTINGS))}"`
  if (documentUrl !== undefined)
    return `<script id="api-reference" data-url="${escaped(documentUrl)}" ${settings}></script>`
  // A script element has no character references, and `</script` in a text of the document would end it.
  const text = JSON.stringify(openApiDocument(petStore)).replaceAll('<', '\\u003c')
  return `<script id="api-reference" type="application/json" ${settings}>${text}</script>`
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '')
}
