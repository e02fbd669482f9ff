import { type Html, html, nothing } from '../html.ts'
import { layout, segments, table } from '../layout.ts'
import { KEY_VARIABLE, LANGUAGES, sampleOf } from '../samples.ts'
import {
  type DocumentedOperation,
  type DocumentedResponse,
  DocumentReader,
  type Json,
  listOf,
  textOf,
} from './document.ts'
import { inline, markdown } from './markdown.ts'

/**
 * The page can be read without its script.
 *
 * @param hasConsole - whether Swagger UI is installed
 */
export function referencePage(document: Json, hasConsole: boolean): string {
  const reader = new DocumentReader(document)
  const operations = reader.operations()
  const { title, description } = Object(document.info)
  const server = textOf(Object(listOf(document.servers)[0]).url)
  const shared = sharedHeaders(operations)
  // Operations come before the chapters of the description, because most readers look for an operation.
  const [introduction = '', ...chapters] = textOf(description).split(/^## /m)
  const sections = [
    ...chapters.map((chapter) => {
      const [name = ''] = chapter.split('\n', 1)
      return { id: name.toLowerCase().replace(/\W+/g, '-'), name, content: markdown(chapter.slice(name.length)) }
    }),
    { id: 'headers', name: 'Headers of every response', content: [headerTable(reader, 'Headers', shared)] },
  ]
  const content = html`<div class="reference">
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
          <p>Base address: <code>${server}</code>. ${consoleNote(hasConsole)}</p></div>
        </section>
        ${operations.map((operation) => operationSection(reader, operation, server, shared))}
        ${sections.map(({ id, name, content }) => html`<section class="card" id="${id}" aria-labelledby="${id}-title"><div class="prose">${heading(id, name)}${content}</div></section>`)}
      </main>
    </div>`
  const head = html`<script type="module" src="/page/reference.js"></script>`
  return layout(
    { path: '/reference', title: 'API reference – Pet store', styles: ['reference'], head, content },
    hasConsole,
  )
}

function consoleNote(hasConsole: boolean): Html {
  return hasConsole
    ? html`The <a href="/console">console</a> sends requests from the browser.`
    : html`A console that sends requests from the browser needs one more package: <code>npm install swagger-ui-dist</code>. The <a href="/">live view</a> sends requests without it.`
}

function heading(id: string, name: string): Html {
  return html`<h2 id="${id}-title">${name} <a class="anchor" href="#${id}" aria-label="Link to ${name}">#</a></h2>`
}

function deprecated(isDeprecated: boolean): Html {
  return isDeprecated ? html`<span class="badge warn">Deprecated</span>` : nothing
}

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
  const errorRows = errors.map((response) => [
    response.status,
    markdown(response.description),
    own(response).map(([name]) => html`<code>${name}</code> `),
  ])
  return html`<section class="card operation" id="${id}" aria-labelledby="${id}-title">
  <div class="prose">
  ${heading(id, summary)}
  <p class="endpoint"><span class="method">${method}</span> <code>${path}</code> ${deprecated(isDeprecated)}</p>
  ${markdown(description)}
  ${parameters.length === 0 ? nothing : parameterTable(reader, parameters)}
  ${requestBody === undefined ? nothing : html`<h3>Request body</h3>${bodyOf(reader, requestBody)}`}
  ${successes.map(
    (response) => html`<h3>Response ${response.status}</h3>
  <p>${inline(response.description)}</p>
  ${own(response).length === 0 ? nothing : headerTable(reader, `Headers of ${response.status}`, own(response))}
  ${response.content === undefined ? nothing : bodyOf(reader, response.content)}`,
  )}
  <details><summary>Errors: ${errors.map(({ status }) => status).join(', ')}</summary>
  ${table(`Errors of ${summary}`, ['Status', 'Meaning', 'Headers'], errorRows)}</details>
  </div>
  <aside class="samples stack" aria-label="Samples for ${summary}">
  ${segments(
    `language-${id}`,
    'Language',
    LANGUAGES.map((language) => [language, language]),
  )}
  ${samplesOf(reader, operation, server)}
  <p class="small">The samples read the API key from the variable <code>${KEY_VARIABLE}</code>.</p>
  ${successes.map(({ status, content }) => {
    const example = content && reader.exampleOf(content)
    return example === undefined ? nothing : code('', `Response ${status}`, JSON.stringify(example, undefined, 2))
  })}
  </aside>
</section>`
}

function parameterTable(reader: DocumentReader, parameters: readonly Json[]): Html {
  const rows = parameters.map((parameter) => [
    html`<code>${textOf(parameter.name)}</code>`,
    `${textOf(parameter.in)}${parameter.required === true ? ', required' : ''}`,
    reader.typeOf(parameter.schema),
    inline(textOf(parameter.description)),
  ])
  return html`<h3>Parameters</h3>${table('Parameters', ['Name', 'Place', 'Value', 'Meaning'], rows)}`
}

function headerTable(reader: DocumentReader, label: string, headers: DocumentedResponse['headers']): Html {
  const rows = headers.map(([name, { description, schema, required }]) => [
    html`<code>${name}</code>`,
    `${reader.typeOf(schema)}${required === true ? '' : '; not always present'}`,
    inline(textOf(description)),
  ])
  return table(label, ['Header', 'Value', 'Meaning'], rows)
}

function bodyOf(reader: DocumentReader, content: Json): Html {
  const schema = reader.resolve(content.schema)
  const object = schema.type === 'array' ? reader.resolve(schema.items) : schema
  const required = listOf(object.required)
  const rows = Object.entries(Object(object.properties)).map(([name, member]) => [
    html`<code>${name}</code>`,
    `${reader.typeOf(member)}${required.includes(name) ? '; required' : ''}`,
    inline(textOf(reader.resolve(member).description)),
  ])
  return html`<p>${schema.type === 'array' ? 'An array. Each item:' : inline(textOf(schema.description))}</p>
  ${table('Members', ['Member', 'Value', 'Meaning'], rows)}`
}

function samplesOf(
  reader: DocumentReader,
  { method, path, parameters, requestBody }: DocumentedOperation,
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
  return LANGUAGES.map((language) => code(language, `Sample in ${language}`, sampleOf(language, request)))
}

/** The button works only with the script of the page, so the script shows it. */
function code(kind: string, label: string, text: string): Html {
  return html`<div class="code ${kind}">
  <div class="row small">${label} <button type="button" class="small" hidden>Copy</button></div>
  <pre tabindex="0" role="group" aria-label="${label}">${text}</pre>
</div>`
}
