import { petStatuses } from '../../../../src/model.ts'
import { AnimalMenu } from './animal-menu.ts'
import { animalRow } from './animal-row.ts'
import { type Animal, type Api, messageOf } from './api.ts'
import { headerOf } from './cost.ts'
import { byId, create, onClick, setEnabled, setNote, setText } from './dom.ts'

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
  readonly #menu: AnimalMenu
  #canChange = false
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

  /** @param onChange - called after the visitor has changed an animal */
  constructor(api: Api, onChange: () => void) {
    this.#api = api
    this.#menu = new AnimalMenu(api, {
      onReplaced: (animal) => this.replace(animal),
      onRemoved: (animal) => this.remove(animal),
      onChange,
    })
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

  /** Whether the visitor may change animals. */
  set canChange(canChange: boolean) {
    if (canChange === this.#canChange) return
    this.#canChange = canChange
    if (!this.#table.hidden) this.#show()
  }

  /** Shows an animal as it is after a change, or no longer if it does not fit the filter. */
  replace(animal: Animal): void {
    const filter = this.#filter.value
    const shown = filter === '' || animal.status === filter ? [animal] : []
    this.#update((other) => (isSame(other, animal) ? shown : [other]))
  }

  remove(animal: Animal): void {
    this.#update((other) => (isSame(other, animal) ? [] : [other]))
  }

  #update(change: (animal: Animal) => readonly Animal[]): void {
    const before = JSON.stringify([this.#animals, this.#added])
    this.#animals = this.#animals.flatMap(change)
    this.#added = this.#added.flatMap(change)
    // The page learns of its own change twice. The second time, the note about it must stay.
    const isChanged = JSON.stringify([this.#animals, this.#added]) !== before
    if (isChanged && this.#table.ariaBusy !== 'true') this.#show()
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
    const statusOf = (animal: Animal) =>
      this.#canChange ? this.#menu.buttonFor(animal) : create('span', `badge ${animal.status}`, animal.status)
    const focused = byId('rows').contains(document.activeElement) ? document.activeElement?.id : undefined
    byId('rows').replaceChildren(...shown.map((animal) => animalRow(animal, isNew(animal), statusOf(animal))))
    // The new rows replace the element with the focus.
    if (focused !== undefined) (document.getElementById(focused) ?? byId('animals-title')).focus()
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
