import { petStatuses } from '../../../src/model.ts'
import { type Html, html } from '../../../src/openapi/reference/html.ts'
import { segments, topBar } from '../../../src/openapi/reference/parts.ts'
import { INT64_TEXT } from '../../../src/schemas/int64.ts'

const STYLES = ['page', 'controls', 'live', 'animals', 'log']
/** Each status, and its text with a capital. */
const STATUSES = petStatuses.map((status) => [status, `${status[0]?.toUpperCase()}${status.slice(1)}`] as const)
const METHODS = ['GET', 'POST', 'HEAD', 'OPTIONS', 'PUT', 'PATCH', 'DELETE']

/** The name of the service and the links at the top of both pages. */
export const HOME = { href: '/', title: 'Pet store' }
export const LINKS = [
  ['/', 'Live view'],
  ['/reference', 'Reference'],
  ['/openapi.json', 'OpenAPI'],
] as const

const KEY_INPUT = html`<input id="key" type="password" autocomplete="off" autocapitalize="none" spellcheck="false"
  placeholder="pet_…" aria-describedby="key-note" />`
const CATEGORY_INPUT = html`<input id="category" required inputmode="numeric" autocomplete="off"
  pattern="${INT64_TEXT.source}" title="A whole number, such as 1" value="1" />`
const TARGET_INPUT = html`<input id="compose-target" required autocomplete="off" spellcheck="false" pattern="/.*"
  title="A path that begins with a slash" />`

/** Returns a control with its label above. */
function field(label: string, control: Html, width = ''): Html {
  return html`<label class="field stack ${width}"><span class="small">${label}</span>${control}</label>`
}

export function livePage(): string {
  return html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Pet store</title>
    <link rel="icon" href="/page/icon.svg" />
    ${STYLES.map((name) => html`<link rel="stylesheet" href="/page/${name}.css" />`)}
    <script type="module" src="/page/page.js"></script>
    <script type="module" src="/page/live.js"></script>
  </head>
  <body>
    ${topBar(HOME, LINKS, '/')}
    <main id="main" class="stack wide" tabindex="-1">
      <noscript>
        <p class="card">The live view needs JavaScript. The <a href="/reference">API reference</a> works without it.</p>
      </noscript>
      <div class="intro row needs-script">
        <div>
          <h1>A pet store API that runs on your machine</h1>
          <p class="muted">Real limits, bans and errors. Each request of any program appears below.</p>
          <p id="connection" class="connection small" role="status">Connecting…</p>
        </div>
        <form id="key-form" class="key row start" aria-labelledby="key-title">
          <h2 id="key-title" class="visually-hidden">Your key</h2>
          <div id="key-plan-field" hidden>${field('Demo key', html`<select id="key-plan"></select>`)}</div>
          ${field('API key', KEY_INPUT, 'grow')}
          <button type="button" id="key-show" aria-pressed="false">Show</button>
          <button type="submit">Use key</button>
          <p class="note small" id="key-note" role="status">The key stays in this tab.</p>
          <button type="button" id="key-demo" hidden></button>
        </form>
      </div>

      <ol class="card stack wide steps needs-script" aria-label="First steps">
        <li class="stack">
          <h2 id="first-title">1. Copy this curl</h2>
          <pre id="first-sample" tabindex="0" role="group" aria-label="Sample in curl"></pre>
          <div class="row start">
            <button type="button" id="first-key" class="primary" data-goto="#key" hidden>Enter an API key</button>
            <button type="button" id="copy-first" class="primary">Copy curl</button>
          </div>
          <p id="first-note" class="note small" role="status"></p>
        </li>
        <li class="stack">
          <h2>2. Add an animal</h2>
          <p class="muted">The table marks it, also if another program adds it.</p>
          <button type="button" data-goto="#name">Go to the form</button>
        </li>
        <li class="stack">
          <h2>3. Reach the limit</h2>
          <p class="muted">See what a 429 and a ban look like, and when they end.</p>
          <button type="button" data-goto="#refusal-title, #stop, #burst">Go to the rate limit</button>
        </li>
      </ol>

      <div class="stack wide columns needs-script">
          <div class="stack wide">
          <section class="card stack" aria-labelledby="limits-title">
            <div class="row">
              <h2 id="limits-title">Rate limit</h2>
              <span id="plan" class="badge" hidden></span>
            </div>
            <div id="gauges" class="stack"></div>
            <div id="refusal" class="refusal warn stack" hidden>
              <p><strong id="refusal-title" role="status" tabindex="-1"></strong></p>
              <p id="refusal-text"></p>
              <p><span id="refusal-left" role="timer" aria-labelledby="refusal-title"></span> left</p>
              <dl class="facts stack small">
                <div><dt>Status</dt><dd>429 Too Many Requests</dd></div>
                <div><dt>Retry-After</dt><dd id="refusal-retry"></dd></div>
              </dl>
              <pre id="refusal-body"></pre>
            </div>
            <p class="small" id="limits-invalid" hidden>
              The server does not accept this key, so there are no limits to show. Requests without a valid key are
              counted by address.
            </p>
            <p class="small">
              A key is banned for 5 minutes after as many refused requests in one minute as its limit per minute.
            </p>
            <p class="small" id="limits-sent"></p>
            <div class="row start buttons">
              <button type="button" id="burst">Send requests until the limit</button>
              <button type="button" id="keep-sending" class="danger" hidden>Keep sending until the ban</button>
              <button type="button" id="stop" hidden>Stop</button>
            </div>
            <p id="burst-note" class="note small" role="status"></p>
          </section>

          <section class="card stack" aria-labelledby="animals-title">
            <div class="row">
              <h2 id="animals-title">Animals</h2>
              <button type="button" id="refresh">Refresh</button>
            </div>
            <div class="toolbar row">
              ${segments('filter', 'Status', [['', 'All'], ...STATUSES])}
              <div class="row">
                <label class="small" for="page-size">Per page</label>
                <select id="page-size"><option>5</option><option selected>10</option><option>20</option><option>100</option></select>
              </div>
            </div>
            <table id="animals" aria-labelledby="animals-title" aria-busy="true" hidden>
              <thead>
                <tr>
                  <th scope="col">Id</th>
                  <th scope="col">Name</th>
                  <th scope="col">Category</th>
                  <th scope="col">Status</th>
                </tr>
              </thead>
              <tbody id="added-rows"></tbody>
              <tbody id="rows"></tbody>
            </table>
            <p id="animals-note" class="empty">Loading the animals…</p>
            <nav class="row" aria-label="Pages of animals">
              <button type="button" id="previous" aria-disabled="true">Previous</button>
              <span id="page-number" class="muted">Page 1</span>
              <button type="button" id="next" aria-disabled="true">Next</button>
            </nav>
            <p id="animals-status" class="visually-hidden" role="status"></p>
          </section>

          <section class="card stack" aria-labelledby="add-title">
            <div class="row"><h2 id="add-title">Add an animal</h2></div>
            <form id="add-form" class="add row start">
              ${field('Name', html`<input id="name" required autocomplete="off" placeholder="Tiger" />`, 'grow')}
              ${field('Category id', CATEGORY_INPUT)}
              ${field('Status', html`<select id="status">${STATUSES.map(([value, text]) => html`<option value="${value}">${text}</option>`)}</select>`)}
              <button type="submit" id="add">Add animal</button>
            </form>
            <p id="add-note" class="note small" role="status"></p>
          </section>
          </div>

          <section class="card stack" aria-labelledby="log-title">
            <div class="row">
              <h2 id="log-title">Requests</h2>
              <div class="row">
                <button type="button" id="compose-open" aria-controls="compose" aria-expanded="false">Write a request</button>
                <button type="button" id="log-clear">Clear</button>
              </div>
            </div>
            <form id="compose" class="stack" aria-label="Write a request" hidden>
              <div class="row start">
                ${field('Method', html`<select id="compose-method">${METHODS.map((method) => html`<option>${method}</option>`)}</select>`)}
                ${field('Path and query', TARGET_INPUT, 'grow')}
              </div>
              ${field('Headers, one on each line; the API key above is added', html`<textarea id="compose-headers" rows="2" spellcheck="false"></textarea>`)}
              ${field('Body, sent exactly as written', html`<textarea id="compose-body" rows="3" spellcheck="false"></textarea>`)}
              <div class="row start">
                <button type="submit" class="primary">Send</button>
                <p id="compose-note" class="small" role="status"></p>
              </div>
            </form>
            <div class="toolbar row">
              ${segments('log-filter', 'Status of the requests', [
                ['', 'All'],
                ['2', '2xx'],
                ['4', '4xx'],
                ['5', '5xx'],
              ])}
              <input id="log-text" type="search" class="grow" autocomplete="off" spellcheck="false"
                aria-label="Only requests that contain this text" placeholder="Filter by text" />
            </div>
            <div class="log-frame">
              <button type="button" id="log-newer" class="small" hidden></button>
              <ol id="log" class="log" tabindex="-1"></ol>
            </div>
            <p id="log-note" class="empty">Waiting for the server…</p>
          </section>
      </div>
    </main>
  </body>
</html>
`.text
}
