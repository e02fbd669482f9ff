import { sha256 } from '@noble/hashes/sha2.js'
import { type OpenApiDocument, type OpenApiOptions, openApiDocument } from '../document.ts'
import { assets, ICON } from './assets.ts'
import {
  type DocumentedOperation,
  type DocumentedResponse,
  DocumentReader,
  type Json,
  listOf,
  textOf,
} from './document-reader.ts'
import { type Html, html, nothing, raw } from './html.ts'
import { inline, markdown } from './markdown.ts'
import { entries, segments, table, topBar } from './parts.ts'
import { KEY_VARIABLE, LANGUAGES, type SampledRequest, sampleOf } from './samples.ts'

/** The links that `petstore serve` adds to the reference. */
export interface Surroundings {
  readonly home: string
  /** The links at the top, and the path of this page. */
  readonly links: readonly (readonly [href: string, text: string])[]
  readonly path: string
  /** The page that sends requests. It reads the request from the fragment of its URL. */
  readonly sendPath: string
}

/**
 * Returns the reference of the API as one HTML page: all operations, with samples in curl, fetch,
 * Python and Go. The page makes no request, and can be read without JavaScript. Its own
 * `Content-Security-Policy` permits only its style sheet and its script.
 * @throws {PetStoreError} `invalid_option`, with the name of the option
 * @example
 * ```ts
 * import { referenceHtml } from 'petstore-kit/openapi'
 *
 * const page = referenceHtml({ basePath: '/v1' })
 * const response = new Response(page, { headers: { 'content-type': 'text/html; charset=utf-8' } })
 * console.log(response.status) // 200
 * ```
 */
export function referenceHtml(options: OpenApiOptions = {}): string {
  return referencePage(openApiDocument(options))
}

/** Stands for the origin in samples if the document has none. The script replaces it. */
const ORIGIN = 'https://your-server.example'

export function referencePage(document: OpenApiDocument, surroundings?: Surroundings): string {
  const reader = new DocumentReader(document)
  const operations = reader.operations()
  const { title, description } = document.info
  const server = document.servers[0]?.url ?? ''
  const shared = sharedHeaders(operations)
  const schemas = Object.entries(document.components.schemas).filter(([, schema]) => 'properties' in Object(schema))
  // Operations come before the chapters, because most readers look for an operation.
  const [introduction = '', ...chapters] = description.split(/^## /m)
  const sections = [
    ...schemas.map(([name, schema]) => ({ id: name, name, content: [schemaOf(reader, name, Object(schema))] })),
    ...chapters.map((chapter) => {
      const [name = ''] = chapter.split('\n', 1)
      return { id: name.toLowerCase().replace(/\W+/g, '-'), name, content: markdown(chapter.slice(name.length)) }
    }),
    { id: 'headers', name: 'Headers of every response', content: [headerList(reader, 'Headers', shared)] },
  ]
  const style = assets['page.css'] + assets['controls.css'] + assets['reference.css']
  const script = assets['page.js']
  return html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta http-equiv="Content-Security-Policy" content="${policyOf(style, script)}" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>API reference – ${title}</title>
    <link rel="icon" href="${ICON}" />
    <style>${raw(style)}</style>
  </head>
  <body>
    ${topBar({ href: surroundings?.home ?? '#introduction', title }, surroundings?.links ?? [], surroundings?.path ?? '')}
    <div class="reference">
      <nav class="contents" aria-label="Contents">
        <ul>
          <li><a href="#introduction">Introduction</a></li>
          ${operations.map(({ id, method, summary, isDeprecated }) => html`<li><a href="#${id}"><span class="method">${method}</span> ${summary} ${deprecated(isDeprecated)}</a></li>`)}
          ${sections.map(({ id, name }) => html`<li><a href="#${id}">${name}</a></li>`)}
        </ul>
      </nav>
      <main id="main" class="stack wide" tabindex="-1">
        <section class="card" id="introduction">
          <div class="prose"><h1>${title}</h1>${markdown(introduction)}
          <p>Base address: <code>${withOrigin(absolute(server))}</code></p></div>
        </section>
        ${operations.map((operation) => operationSection(reader, operation, server, shared, surroundings?.sendPath))}
        <div class="chapters">
          ${sections.map(({ id, name, content }) => html`<section class="card" id="${id}" aria-labelledby="${id}-title"><div class="prose">${heading(id, name)}${content}</div></section>`)}
        </div>
      </main>
    </div>
    <script type="module">${raw(script)}</script>
  </body>
</html>
`.text
}

/** Returns a policy with the hashes of a style sheet and a script (CSP Level 3, section 2.3.1). */
function policyOf(style: string, script: string): string {
  const source = (text: string) => `'sha256-${btoa(String.fromCharCode(...sha256(new TextEncoder().encode(text))))}'`
  return [
    "default-src 'none'",
    `script-src ${source(script)}`,
    `style-src ${source(style)}`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ')
}

function absolute(server: string): string {
  return server.startsWith('/') ? ORIGIN + server : server
}

/** Marks each placeholder of the host, so that the script of the page finds it. */
function withOrigin(text: string): Html {
  const [first = '', ...others] = text.split(ORIGIN)
  return html`${first}${others.map((part) => html`<span class="origin">${ORIGIN}</span>${part}`)}`
}

function heading(id: string, name: string): Html {
  return html`<h2 id="${id}-title">${name} <a class="anchor" href="#${id}" aria-label="Link to ${name}">#</a></h2>`
}

function deprecated(isDeprecated: boolean): Html {
  return isDeprecated ? html`<span class="badge warn">Deprecated</span>` : nothing
}

/** Returns the headers that all successful responses have. The page describes them once. */
function sharedHeaders(operations: readonly DocumentedOperation[]): DocumentedResponse['headers'] {
  const successes = operations.flatMap(({ responses }) => responses.filter(({ status }) => status < '400'))
  const [first, ...others] = successes.map(({ headers }) => headers)
  return (first ?? []).filter(([name]) => others.every((headers) => headers.some(([other]) => other === name)))
}

function operationSection(
  reader: DocumentReader,
  operation: DocumentedOperation,
  server: string,
  shared: DocumentedResponse['headers'],
  sendPath: string | undefined,
): Html {
  const { id, method, path, summary, description, isDeprecated, parameters, requestBody, responses } = operation
  const own = (response: DocumentedResponse) =>
    response.headers.filter(([name]) => !shared.some(([other]) => other === name))
  const successes = responses.filter(({ status }) => status < '400')
  const errors = responses.filter(({ status }) => status >= '400')
  const errorRows = errors.map((response) => [
    response.status,
    markdown(response.description),
    own(response).map(([name]) => html`<code>${name}</code> `),
  ])
  const sample = sampleRequest(reader, operation, server)
  return html`<section class="card operation stack" id="${id}" aria-labelledby="${id}-title">
  <div class="prose">
  ${heading(id, summary)}
  <p class="endpoint"><span class="method">${method}</span> <code>${path}</code> ${deprecated(isDeprecated)}</p>
  ${markdown(description)}
  ${parameters.length === 0 ? nothing : html`<h3>Parameters</h3>${parameterList(reader, parameters)}`}
  ${requestBody === undefined ? nothing : html`<h3>Request body</h3><p>${schemaLink(reader, requestBody)}</p>`}
  ${successes.map(
    (response) => html`<h3>Response ${response.status}</h3>
  <p>${inline(response.description)} ${response.content === undefined ? nothing : schemaLink(reader, response.content)}</p>
  ${own(response).length === 0 ? nothing : headerList(reader, `Headers of ${response.status}`, own(response))}`,
  )}
  <details><summary>Errors: ${errors.map(({ status }) => status).join(', ')}</summary>
  ${table(`Errors of ${summary}`, ['Status', 'Meaning', 'Headers'], errorRows)}</details>
  </div>
  <aside class="samples stack" aria-label="Samples for ${summary}">
  <div class="row">
  ${segments(
    `language-${id}`,
    'Language',
    LANGUAGES.map((language) => [language, language]),
  )}
  ${sendPath === undefined ? nothing : html`<a href="${sendPath}${fragmentOf(sample, server)}">Edit and send</a>`}
  </div>
  ${LANGUAGES.map((language) => sampleBox(language, `Sample in ${language}`, sampleOf(language, sample)))}
  <p class="small">The samples read the API key from the variable <code>${KEY_VARIABLE}</code>.</p>
  ${successes.map(({ status, content }) => {
    const example = content && reader.exampleOf(content)
    return example === undefined ? nothing : sampleBox('', `Response ${status}`, exampleText(example))
  })}
  </aside>
</section>`
}

function parameterList(reader: DocumentReader, parameters: readonly Json[]): Html {
  const list = parameters.map(({ name, in: part, required, schema, description }) => ({
    name: textOf(name),
    value: `${textOf(part)}${required === true ? ', required' : ''}; ${reader.typeOf(schema)}`,
    meaning: inline(textOf(description)),
  }))
  return entries('Parameters', list)
}

function headerList(reader: DocumentReader, label: string, headers: DocumentedResponse['headers']): Html {
  const list = headers.map(([name, { description, schema, required }]) => ({
    name,
    value: `${reader.typeOf(schema)}${required === true ? '' : '; not always present'}`,
    meaning: inline(textOf(description)),
  }))
  return entries(label, list)
}

/** Returns the description of an object schema and its members. */
function schemaOf(reader: DocumentReader, name: string, { description, properties, required }: Json): Html {
  const list = Object.entries(Object(properties)).map(([member, value]) => ({
    name: member,
    value: `${reader.typeOf(value)}${listOf(required).includes(member) ? '; required' : ''}`,
    meaning: inline(textOf(reader.resolve(value).description)),
  }))
  return html`<p>${inline(textOf(description))}</p>${entries(`Members of ${name}`, list)}`
}

/** Names the schema of a body, with a link to its section. */
function schemaLink(reader: DocumentReader, { schema }: Json): Html {
  const { type, items } = reader.resolve(schema)
  const name = reader.nameOf(type === 'array' ? items : schema) ?? ''
  return html`${type === 'array' ? 'An array of ' : 'A JSON object: '}<a href="#${name}">${name}</a>.`
}

function sampleRequest(
  reader: DocumentReader,
  { method, path, parameters, requestBody }: DocumentedOperation,
  server: string,
): SampledRequest {
  const exampleOf = (parameter: Json) =>
    String(parameter.example ?? listOf(reader.resolve(parameter.schema).examples)[0] ?? 1)
  const inPath = parameters.filter((parameter) => parameter.in === 'path')
  const filled = inPath.reduce((text, one) => text.replace(`{${one.name}}`, exampleOf(one)), path)
  const body = requestBody && JSON.stringify(reader.exampleOf(requestBody))
  return {
    method,
    url: absolute(server) + filled,
    headers: body === undefined ? {} : { 'Content-Type': 'application/json' },
    body: body ?? '',
    hasToken: true,
  }
}

/** Returns the fragment with which the live view of `petstore serve` fills in this request. */
function fragmentOf({ method, url, headers, body }: SampledRequest, server: string): string {
  const target = new URL(url, ORIGIN).href.slice(new URL(server, ORIGIN).origin.length)
  return `#send=${encodeURIComponent(JSON.stringify({ method, target, headers, body }))}`
}

/** Returns an example as JSON, with one line for each animal of an array. */
function exampleText(example: unknown): string {
  if (!Array.isArray(example)) return JSON.stringify(example, undefined, 2)
  return `[\n${example.map((item) => `  ${JSON.stringify(item)}`).join(',\n')}\n]`
}

/** The button starts hidden; the script of the page shows it. */
function sampleBox(kind: string, label: string, text: string): Html {
  return html`<div class="code ${kind}">
  <div class="row small">${label} <button type="button" class="small" hidden>Copy</button></div>
  <pre tabindex="0" role="group" aria-label="${label}">${withOrigin(text)}</pre>
</div>`
}
