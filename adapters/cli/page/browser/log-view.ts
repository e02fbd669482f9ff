import type { LogEntry } from '../request-log.ts'
import { byId, setText } from './dom.ts'
import { plural } from './format.ts'
import { changeEntry, requestEntry } from './log-entry.ts'

/** How many entries the log has; older ones are removed. */
const MAX_ENTRIES = 100

/** Shows the newest entry first. While the visitor reads an entry, newer ones wait behind a button. */
export class LogView {
  readonly #list = byId('log')
  readonly #newer = byId('log-newer')
  readonly #status = byId<HTMLSelectElement>('log-status')
  readonly #text = byId<HTMLInputElement>('log-text')
  /** The entries that wait, the oldest first. */
  #waiting: readonly LogEntry[] = []
  emptyText = ''

  constructor() {
    this.#newer.addEventListener('click', () => {
      this.#showWaiting()
      this.#list.scrollTop = 0
      this.#list.querySelector('summary')?.focus()
    })
    // The visitor may stop to read by closing the entry or by scrolling back. Neither event bubbles.
    for (const type of ['toggle', 'scroll']) this.#list.addEventListener(type, () => this.add([]), true)
    this.#status.addEventListener('change', () => this.#update())
    this.#text.addEventListener('input', () => this.#update())
    byId('log-clear').addEventListener('click', () => {
      this.#waiting = []
      this.#list.replaceChildren()
      this.#update()
    })
  }

  /** @param entries - the oldest first */
  add(entries: readonly LogEntry[]): void {
    this.#waiting = [...this.#waiting, ...entries].slice(-MAX_ENTRIES)
    const isRead = this.#list.scrollTop > 0 || this.#list.querySelector('.entry[open]') !== null
    if (isRead) this.#update()
    else this.#showWaiting()
  }

  #showWaiting(): void {
    for (const entry of this.#waiting) {
      const item = document.createElement('li')
      item.append('call' in entry ? changeEntry(entry) : requestEntry(entry))
      this.#list.prepend(item)
    }
    this.#waiting = []
    for (const item of [...this.#list.children].slice(MAX_ENTRIES)) item.remove()
    this.#update()
  }

  /** Applies the filter, and shows how many entries wait. */
  #update(): void {
    const items = [...this.#list.children] as HTMLElement[]
    for (const item of items) item.hidden = !this.#isShown(item)
    byId('log-note').hidden = items.some(({ hidden }) => !hidden)
    setText(byId('log-note'), items.length === 0 ? this.emptyText : 'No request fits the filter.')
    this.#newer.hidden = this.#waiting.length === 0
    setText(this.#newer, `Show ${plural(this.#waiting.length, 'newer request')}`)
  }

  #isShown(item: Element): boolean {
    const line = item.querySelector('summary')?.textContent ?? ''
    const text = this.#text.value.trim().toLowerCase()
    return line.startsWith(this.#status.value) && line.toLowerCase().includes(text)
  }
}
