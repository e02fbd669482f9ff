import type { LoggedChange, LoggedRequest } from '../request-log.ts'
import { costOf, costText } from './cost.ts'
import { create, isolated } from './dom.ts'
import { explanationOf, indented } from './explanation.ts'
import { timeOfDay } from './format.ts'

/** Returns the entry of a request: one line, which the visitor can open. */
export function requestEntry(request: LoggedRequest): HTMLElement {
  const { status, reason, method, target, time } = request
  const cost = costOf(request)
  const kind = status < 300 ? 'good' : status === 429 ? 'warn' : 'bad'
  const summary = create(
    'summary',
    '',
    create('span', `badge ${kind}`, `${status} ${reason}`.trim()),
    create('code', '', method, ' ', isolated(target)),
    create('span', 'muted', [programOf(request), cost && costText(cost)].filter(Boolean).join(' · ')),
    clockOf(time),
  )
  return entryOf(summary, () => contentOf(request))
}

/** Returns the entry of a change by the page. */
export function changeEntry({ call, time }: LoggedChange): HTMLElement {
  const summary = create(
    'summary',
    '',
    create('span', 'badge', 'No request'),
    create('code', '', call),
    create('span', 'muted', 'this page · not counted'),
    clockOf(time),
  )
  const text =
    'The page has changed the animal as a program that embeds the store does. This is not a request of the API: it needs no key.'
  return entryOf(summary, () => create('div', 'stack', create('p', '', text)))
}

function clockOf(time: number): HTMLElement {
  const clock = create('time', 'muted', timeOfDay(time)) as HTMLTimeElement
  clock.dateTime = new Date(time).toISOString()
  return clock
}

/** Many entries may arrive in a short time, so the content is created at the first opening. */
function entryOf(summary: HTMLElement, content: () => HTMLElement): HTMLElement {
  const details = create('details', 'entry', summary) as HTMLDetailsElement
  details.addEventListener('toggle', () => {
    if (details.open && details.childElementCount === 1) details.append(content())
  })
  return details
}

function contentOf(request: LoggedRequest): HTMLElement {
  const { headers, responseHeaders, body, responseBody, isCut } = request
  const pairs = responseHeaders.flatMap((name, i) =>
    i % 2 === 0 ? [[name, responseHeaders[i + 1] ?? ''] as const] : [],
  )
  return create(
    'div',
    'stack',
    create('p', '', explanationOf(request)),
    ...block('Response body', indented(responseBody)),
    ...(isCut ? [create('p', 'muted', 'The request or its response is too long to be shown whole.')] : []),
    factsOf(factsAbout(request)),
    ...block('Request body', indented(body)),
    folded('Response headers', factsOf(pairs.map(([name, value]) => [name, value + timeIn(name, value)]))),
    folded('Request headers', factsOf(Object.entries(headers))),
  )
}

function factsAbout(request: LoggedRequest): readonly (readonly [string, string])[] {
  const { key, hasToken, durationMs } = request
  const cost = costOf(request)
  const label = key && [key.label ?? `plan ${key.plan}`, key.id].filter(Boolean).join(', ')
  const change = cost && cost.before === cost.remaining ? 'nothing' : '1 request'
  return [
    ['Key', label ?? (hasToken ? 'not valid' : 'none')],
    ...(cost ? [['Cost', `${change}, ${costText(cost)}, resets at ${timeOfDay(cost.resetsAt)}`] as const] : []),
    ['Time taken', `${durationMs} ms`],
  ]
}

function factsOf(pairs: readonly (readonly [string, string])[]): HTMLElement {
  const rows = pairs.map(([name, value]) =>
    create('div', '', create('dt', '', name), create('dd', '', isolated(value))),
  )
  return create('dl', '', ...rows)
}

function timeIn(name: string, value: string): string {
  return name === 'X-RateLimit-Reset' ? ` (${timeOfDay(Number(value) * 1_000)})` : ''
}

function programOf({ headers }: LoggedRequest): string {
  const agent = headers['User-Agent'] ?? ''
  return agent.startsWith('Mozilla/') ? 'browser' : (/^[^\s(]{1,40}/.exec(agent)?.[0] ?? 'unknown program')
}

function folded(title: string, content: HTMLElement): HTMLElement {
  return create('details', '', create('summary', '', title), content)
}

function block(title: string, text: string): HTMLElement[] {
  if (text === '') return []
  const pre = create('pre', '', isolated(text))
  // Makes the text focusable, so that a keyboard can scroll it.
  pre.tabIndex = 0
  pre.setAttribute('role', 'group')
  pre.setAttribute('aria-label', title)
  return [create('h3', 'muted', title), pre]
}
