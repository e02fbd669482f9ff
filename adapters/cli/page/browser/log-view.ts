import type { LoggedRequest } from '../request-log.ts'
import { byId } from './dom.ts'
import { logEntry } from './log-entry.ts'
import type { DemoKeyToken } from './sample-buttons.ts'

/** The largest number of requests in the log. Older requests are removed. */
const MAX_ENTRIES = 100

/** Shows requests, the newest first. */
export class LogView {
  readonly #tokenOf: DemoKeyToken
  /** The last request of this page. The newest request like it is opened: a burst sends the same request many times. */
  #expected = ''
  /** The request that the page has opened by itself. */
  #opened: HTMLDetailsElement | undefined

  constructor(tokenOf: DemoKeyToken) {
    this.#tokenOf = tokenOf
  }

  /** Opens a request of this page when it arrives. */
  expect({ method, target }: Pick<LoggedRequest, 'method' | 'target'>): void {
    this.#expected = `${method} ${target}`
  }

  /** Adds requests, the oldest first. */
  add(requests: readonly LoggedRequest[]): void {
    if (requests.length === 0) return
    const expected = requests.findLast(({ method, target }) => `${method} ${target}` === this.#expected)
    const list = byId('log')
    for (const request of requests.slice(-MAX_ENTRIES)) {
      const details = logEntry(request, this.#tokenOf)
      const item = document.createElement('li')
      item.append(details)
      list.prepend(item)
      if (request === expected) this.#open(details)
    }
    while (list.childElementCount > MAX_ENTRIES) list.lastElementChild?.remove()
    byId('log-note').hidden = true
  }

  #open(details: HTMLDetailsElement): void {
    const last = this.#opened
    // An entry that the visitor is using stays open.
    if (last && !last.contains(document.activeElement)) last.open = false
    details.open = true
    this.#opened = details
  }
}
