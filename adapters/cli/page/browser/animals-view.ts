import { petStatuses } from '../../../../src/model.ts'
import { animalRow } from './animal-row.ts'
import { type Animal, type Api, messageOf } from './api.ts'
import { headerOf } from './cost.ts'
import { byId, onClick, setEnabled, setNote, setText } from './dom.ts'

const PAGE_SIZE = '10'

/** The largest number of new animals that are shown above the page. */
const MAX_NEW = 5

/** How many milliseconds to wait after a load without a response, because loads are counted. */
const RETRY_AFTER = 5_000

/** Shows one page of the animals, and above it the animals that were added meanwhile. */
export class AnimalsView {
  readonly #api: Api
  readonly #filter = byId<HTMLSelectElement>('filter')
  readonly #table = byId('animals')
  /** The cursors of all pages up to the shown page. The first page has no cursor. */
  #cursors: readonly string[] = ['']
  #next: string | undefined
  #animals: readonly Animal[] = []
  /** The newest animals, the oldest first. */
  #added: readonly Animal[] = []
  /** Counts the calls of `load`, because a late response to an earlier call must be ignored. */
  #loads = 0
  /** When to load again after a load without a response, by the clock of `performance`. */
  #retryAt = Number.POSITIVE_INFINITY

  constructor(api: Api) {
    this.#api = api
    this.#filter.append(...petStatuses.map((status) => new Option(status)))
    this.#filter.addEventListener('change', () => void this.#goTo(['']))
    byId('refresh').addEventListener('click', () => void this.load())
    onClick(byId('next'), () => void this.#goTo([...this.#cursors, this.#next ?? '']))
    onClick(byId('previous'), () => void this.#goTo(this.#cursors.slice(0, -1)))
  }

  /** Forgets all animals, and loads the first page. */
  reset(): void {
    this.#animals = []
    this.#added = []
    this.#table.hidden = true
    void this.#goTo([''])
  }

  /** Loads the animals again if the last load got no response. */
  retry(): void {
    if (performance.now() >= this.#retryAt) void this.load()
  }

  /** Shows an animal that this page or another program has added. */
  addNew(animal: Animal): void {
    if (this.#added.some((other) => isSame(other, animal))) return
    this.#added = [...this.#added, animal].slice(-MAX_NEW)
    if (this.#table.ariaBusy !== 'true') this.#show()
  }

  async load(): Promise<void> {
    this.#loads += 1
    const load = this.#loads
    this.#retryAt = Number.POSITIVE_INFINITY
    if (this.#api.key === '') return this.#showProblem('', 'Enter an API key above to see the animals.')
    const query = new URLSearchParams({ limit: PAGE_SIZE })
    const cursor = this.#cursors.at(-1) ?? ''
    if (this.#filter.value !== '') query.set('status', this.#filter.value)
    if (cursor !== '') query.set('cursor', cursor)
    this.#table.ariaBusy = 'true'
    try {
      const exchange = await this.#api.send('GET', `/pets?${query}`)
      if (load !== this.#loads) return
      if (exchange.status !== 200) return this.#showProblem('bad', messageOf(exchange))
      this.#next = headerOf(exchange, 'X-Next-Cursor')
      this.#animals = exchange.value as Animal[]
      this.#show()
    } catch {
      if (load !== this.#loads) return
      this.#retryAt = performance.now() + RETRY_AFTER
      this.#showProblem('bad', 'The server does not respond. The animals appear when it responds again.')
    }
  }

  #goTo(cursors: readonly string[]): Promise<void> {
    this.#cursors = cursors
    return this.load()
  }

  #show(): void {
    const isNew = (animal: Animal) => this.#added.some((other) => isSame(other, animal))
    const elsewhere = this.#added.filter((added) => !this.#animals.some((animal) => isSame(animal, added)))
    const shown = [...elsewhere.toReversed(), ...this.#animals]
    byId('rows').replaceChildren(...shown.map((animal) => animalRow(animal, isNew(animal))))
    this.#table.hidden = shown.length === 0
    this.#table.ariaBusy = 'false'
    const none = this.#filter.value === '' ? 'There are no animals yet. Add one below.' : 'There are no such animals.'
    setNote(byId('animals-note'), '', this.#animals.length === 0 ? none : '')
    this.#showPager(this.#next !== undefined)
  }

  #showProblem(kind: '' | 'bad', text: string): void {
    this.#table.ariaBusy = 'false'
    const isOld = !this.#table.hidden
    setNote(byId('animals-note'), kind, isOld ? `${text} The table shows the last page that was loaded.` : text)
    this.#showPager(false)
  }

  #showPager(hasNext: boolean): void {
    setText(byId('page-number'), `Page ${this.#cursors.length}`)
    setEnabled(byId('next'), hasNext)
    setEnabled(byId('previous'), this.#cursors.length > 1)
  }
}

function isSame(a: Animal, b: Animal): boolean {
  return String(a.id) === String(b.id)
}
