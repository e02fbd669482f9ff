import { KEY_VARIABLE, LANGUAGES, sampleOf } from '../samples.ts'
import {
  type DocumentedOperation,
  type DocumentedResponse,
  DocumentReader,
  type Json,
  listOf,
  textOf,
} from './document.ts'
import { type Html, html, nothing } from '../html.ts'
import { inline, markdown } from './markdown.ts'

/**
 * Returns the API reference as HTML, from the OpenAPI document. It needs no script.
 *
 * @param hasConsole - whether Swagger UI is installed
 */
export function referencePage(document: Json, hasConsole: boolean): string {
  const reader = new DocumentReader(document)
  const operations = reader.operations()
  const { title, description } = Object(document.info)
  const server = textOf(Object(listOf(document.servers)[0]).url)
  const shared = sharedHeaders(operations)
  return html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>API reference – Pet store</title>
    <link rel="icon" href="/page/icon.svg" />
    <link rel="stylesheet" href="/page/page.css" />
    <link rel="stylesheet" href="/page/controls.css" />
    <link rel="stylesheet" href="/page/reference.css" />
  </head>
  <body>
    <a class="skip" href="#main">Skip to the content</a>
    <header class="top">
      <div class="top-inner">
        <a class="brand" href="/"><img src="/page/icon.svg" alt="" width="26" height="26" />Pet store</a>
        <nav aria-label="Pages">
          <a href="/">Live view</a>
          <a href="/reference" aria-current="page">API reference</a>
          <a href="/openapi.json">OpenAPI</a>
        </nav>
      </div>
    </header>
    <div class="reference">
      <nav class="contents" aria-label="Operations">
        <ul>
          <li><a href="#introduction">Introduction</a></li>
          ${operations.map(({ id, method, summary }) => html`<li><a href="#${id}"><span class="method">${method}</span> ${summary}</a></li>`)}
          <li><a href="#headers">Headers of every response</a></li>
        </ul>
      </nav>
      <main id="main" tabindex="-1">
        <section class="card prose" id="introduction">
          <h1>${title}</h1>
          <p>Base address: <code>${server}</code></p>
          ${consoleNote(hasConsole)}
          ${markdown(textOf(description), 2)}
        </section>
        ${operations.map((operation) => operationSection(reader, operation, server, shared))}
        <section class="card prose" id="headers">
          <h2>Headers of every response</h2>
          ${headerTable(reader, 'Headers of every response', shared)}
        </section>
      </main>
    </div>
  </body>
</html>
`.text
}

function consoleNote(hasConsole: boolean): Html {
  return hasConsole
    ? html`<p>The <a href="/console">console</a> sends requests from the browser.</p>`
    : html`<p>A console that sends requests from the browser needs one more package: <code>npm install swagger-ui-dist</code>. The <a href="/">live view</a> sends requests without it.</p>`
}

/** Returns the headers that every successful response has. */
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
): Html {
  const { id, method, path, summary, description, isDeprecated, parameters, requestBody, responses } = operation
  const own = (response: DocumentedResponse) =>
    response.headers.filter(([name]) => !shared.some(([other]) => other === name))
  const successes = responses.filter(({ status }) => status < '400')
  const errors = responses.filter(({ status }) => status >= '400')
  return html`<section class="card prose" id="${id}" aria-labelledby="${id}-title">
  <h2 id="${id}-title">${summary} <a class="anchor" href="#${id}" aria-label="Link to ${summary}">#</a></h2>
  <p class="endpoint"><span class="method">${method}</span> <code>${path}</code>${isDeprecated ? html` <span class="badge warn">Deprecated</span>` : nothing}</p>
  ${markdown(description)}
  ${parameters.length === 0 ? nothing : parameterTable(reader, parameters)}
  ${requestBody === undefined ? nothing : html`<h3>Request body</h3>${bodyOf(reader, requestBody)}`}
  ${successes.map(
    (response) => html`<h3>Response ${response.status}</h3>
  <p>${inline(response.description)}</p>
  ${own(response).length === 0 ? nothing : headerTable(reader, `Headers of ${response.status}`, own(response))}
  ${response.content === undefined ? nothing : bodyOf(reader, response.content)}`,
  )}
  <h3>Errors</h3>
  ${table(
    'Errors',
    ['Status', 'Meaning', 'Headers'],
    errors.map((response) => [
      html`${response.status}`,
      html`${markdown(response.description)}`,
      html`${own(response).map(([name]) => html`<code>${name}</code> `)}`,
    ]),
  )}
  <h3>Samples</h3>
  <p class="muted">They read the API key from the variable <code>${KEY_VARIABLE}</code>.</p>
  ${samplesOf(reader, operation, server)}
</section>`
}

function parameterTable(reader: DocumentReader, parameters: readonly Json[]): Html {
  const rows = parameters.map((parameter) => [
    html`<code>${textOf(parameter.name)}</code>`,
    html`${textOf(parameter.in)}${parameter.required === true ? ', required' : ''}`,
    html`${reader.typeOf(parameter.schema)}`,
    html`${inline(textOf(parameter.description))}`,
  ])
  return html`<h3>Parameters</h3>${table('Parameters', ['Name', 'Place', 'Value', 'Meaning'], rows)}`
}

function headerTable(reader: DocumentReader, label: string, headers: DocumentedResponse['headers']): Html {
  const rows = headers.map(([name, { description, schema, required }]) => [
    html`<code>${name}</code>`,
    html`${reader.typeOf(schema)}${required === true ? '' : '; not always present'}`,
    html`${inline(textOf(description))}`,
  ])
  return table(label, ['Header', 'Value', 'Meaning'], rows)
}

/** Returns the members of a body, and an example. */
function bodyOf(reader: DocumentReader, content: Json): Html {
  const schema = reader.resolve(content.schema)
  const object = schema.type === 'array' ? reader.resolve(schema.items) : schema
  const required = listOf(object.required)
  const rows = Object.entries(Object(object.properties)).map(([name, member]) => [
    html`<code>${name}</code>`,
    html`${reader.typeOf(member)}${required.includes(name) ? '; required' : ''}`,
    html`${inline(textOf(reader.resolve(member).description))}`,
  ])
  const example = reader.exampleOf(content)
  return html`<p>${schema.type === 'array' ? 'An array. Each item:' : inline(textOf(schema.description))}</p>
  ${table('Members', ['Member', 'Value', 'Meaning'], rows)}
  ${example === undefined ? nothing : pre('Example', JSON.stringify(example, undefined, 2))}`
}

function samplesOf(
  reader: DocumentReader,
  { id, method, path, parameters, requestBody }: DocumentedOperation,
  server: string,
): Html[] {
  const exampleOf = (parameter: Json) => {
    const value = parameter.example ?? Object(listOf(reader.resolve(parameter.schema).examples))[0] ?? 1
    return String(value)
  }
  const inPath = parameters.filter((parameter) => parameter.in === 'path')
  const filled = inPath.reduce((text, one) => text.replace(`{${one.name}}`, exampleOf(one)), path)
  const query = parameters.find((parameter) => parameter.in === 'query' && parameter.example !== undefined)
  const body = requestBody && JSON.stringify(reader.exampleOf(requestBody))
  const request = {
    method,
    url: server + filled + (query ? `?${query.name}=${exampleOf(query)}` : ''),
    headers: (body === undefined ? {} : { 'Content-Type': 'application/json' }) as Record<string, string>,
    body: body ?? '',
    hasToken: true,
  }
  return LANGUAGES.map(
    (
      language,
      index,
    ) => html`<details class="sample" name="sample-${id}"${index === 0 ? html` open` : nothing}><summary>${language}</summary>
${pre(`${language}`, sampleOf(language, request))}</details>`,
  )
}

function pre(label: string, text: string): Html {
  return html`<pre tabindex="0" role="group" aria-label="${label}">${text}</pre>`
}

function table(label: string, head: readonly string[], rows: readonly (readonly Html[])[]): Html {
  return html`<div class="scroll" tabindex="0" role="group" aria-label="${label}"><table>
<thead><tr>${head.map((text) => html`<th scope="col">${text}</th>`)}</tr></thead>
<tbody>${rows.map((cells) => html`<tr>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>`)}</tbody>
</table></div>`
}
