import type { LoggedRequest } from '../request-log.ts'
import type { DraftRequest } from './composer.ts'
import { byId, setText } from './dom.ts'
import { logEntry } from './log-entry.ts'
import type { RequestActions } from './request-buttons.ts'

/** How many closed entries stay; older ones are removed. An open entry stays until it is closed. */
const MAX_CLOSED = 100

export class LogView {
  readonly #list = byId('log')
  readonly #newer = byId('log-newer')
  readonly #actions: RequestActions
  readonly #send: RequestActions['send']
  /** Method and target of the last request sent by hand. When the log has it, its entry opens. */
  #expected = ''
  /** The last entry that `add` has opened, because its request came from this page. */
  #opened: HTMLDetailsElement | undefined
  /** The first digit of the shown statuses, and a text that the entries contain; empty for all. */
  #filter = { status: '', text: '' }
  #newerCount = 0
  emptyText = ''

  constructor(actions: RequestActions) {
    this.#send = actions.send
    this.#actions = { ...actions, send: (request) => this.sendAndOpen(request) }
    this.#newer.addEventListener('click', () => this.#showNewest())
    this.#list.addEventListener('scroll', () => {
      if (this.#list.scrollTop === 0) this.#setNewer(0)
    })
    // A closed entry may be removed. `toggle` does not bubble, so the listener captures it.
    this.#list.addEventListener('toggle', () => this.#update(), true)
    byId('log-filter').addEventListener('change', ({ target }) => {
      this.#filter.status = (target as HTMLInputElement).value
      this.#showNewest()
    })
    byId('log-text').addEventListener('input', ({ target }) => {
      this.#filter.text = (target as HTMLInputElement).value.trim().toLowerCase()
      this.#update()
    })
    byId('log-clear').addEventListener('click', () => {
      this.#list.replaceChildren()
      this.#setNewer(0)
      this.#update()
    })
  }

  /** Sends a request, and opens its entry when it is in the log. Throws if no response arrives. */
  async sendAndOpen(request: DraftRequest): Promise<void> {
    this.#expected = `${request.method} ${request.target}`
    await this.#send(request)
    this.#list.scrollTop = 0
    this.#setNewer(0)
  }

  /** @param requests - the oldest first */
  add(requests: readonly LoggedRequest[]): void {
    const expected = requests.findLast(({ method, target }) => `${method} ${target}` === this.#expected)
    const list = this.#list
    const { read, top } = this.#readEntry()
    for (const request of requests.slice(-MAX_CLOSED)) {
      const details = logEntry(request, this.#actions)
      const item = document.createElement('li')
      item.append(details)
      list.prepend(item)
      if (request !== expected) continue
      this.#expected = ''
      this.#open(details)
    }
    this.#update()
    if (!read) return
    if (read.isConnected) list.scrollTop += read.getBoundingClientRect().top - top
    const count = [...list.children].slice(0, requests.length).filter((item) => this.#isShown(item)).length
    if (list.scrollTop > 0) this.#setNewer(this.#newerCount + count)
  }

  /** Returns the entry that must keep its place. Prefers an open one: others may be removed. */
  #readEntry() {
    const { top: edge } = this.#list.getBoundingClientRect()
    const shown = [...this.#list.children].filter((item) => item.getBoundingClientRect().bottom > edge)
    const scrolled =
      this.#list.scrollTop > 0 ? (shown.find((item) => item.querySelector('[open]')) ?? shown[0]) : undefined
    const read = this.#list.querySelector(':focus')?.closest('li') ?? scrolled
    return { read, top: read?.getBoundingClientRect().top ?? 0 }
  }

  #open(details: HTMLDetailsElement): void {
    const last = this.#opened
    // An entry that contains the focus stays open.
    if (last && !last.contains(document.activeElement)) last.open = false
    details.open = true
    this.#opened = details
  }

  /** Removes the oldest closed entries, and applies the filter. */
  #update(): void {
    const items = [...this.#list.children] as HTMLElement[]
    const closed = items.filter((item) => !item.querySelector('details')?.open)
    for (const item of closed.slice(MAX_CLOSED)) item.remove()
    for (const item of items) item.hidden = !this.#isShown(item)
    byId('log-note').hidden = items.some(({ hidden }) => !hidden)
    setText(byId('log-note'), items.length === 0 ? this.emptyText : 'No request fits the filter.')
  }

  #isShown(item: Element): boolean {
    const line = item.querySelector('summary')?.textContent ?? ''
    return line.startsWith(this.#filter.status) && line.toLowerCase().includes(this.#filter.text)
  }

  /** Scrolls to the newest entry, and moves the focus to the list. */
  #showNewest(): void {
    this.#list.focus({ preventScroll: true })
    this.#list.scrollTop = 0
    this.#setNewer(0)
    this.#update()
  }

  #setNewer(count: number): void {
    this.#newerCount = count
    this.#newer.hidden = count === 0
    setText(this.#newer, `${count.toLocaleString('en')} newer`)
  }
}
