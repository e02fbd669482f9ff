import { type PageAddress, queryOf, readAddress } from './address.ts'
import { animalRow } from './animal-row.ts'
import { type Animal, type Api, type Exchange, messageOf } from './api.ts'
import { headerOf } from './cost.ts'
import { byId, onClick, setEnabled, setText } from './dom.ts'
import { parsed } from './explanation.ts'
import { plural } from './format.ts'
import { type KnownState, keepPage, keptPage } from './kept-page.ts'

/** The largest number of new animals that are highlighted. */
const MAX_ADDED = 5

/** How many milliseconds to wait after a load without a response, because loads are counted. */
const RETRY_AFTER = 5_000

export class AnimalsView {
  readonly #api: Api
  #address: PageAddress
  #animals: readonly Animal[] = []
  #next: string | undefined
  /** The new animals to highlight, the oldest first. */
  #added: readonly Animal[] = []
  /** Counts the calls of `load`, because a late response to an earlier call must be ignored. */
  #load = 0
  /** When to load again after a load without a response, by the clock of `performance`. */
  #retryAt = Number.POSITIVE_INFINITY
  /** The newest state of the server. Set it before the first load. */
  state: KnownState = { hasSecret: false, resets: 0, requests: [] }

  constructor(api: Api) {
    this.#api = api
    this.#address = readAddress(location.search, history.state)
    this.#showControls()
    byId('filter').addEventListener('change', () => this.#goToPage())
    byId('page-size').addEventListener('change', () => this.#goToPage())
    byId('refresh').addEventListener('click', () => void this.load())
    onClick(byId('next'), () => this.#goToPage([...this.#address.cursors, this.#next]))
    onClick(byId('previous'), () => this.#goToPage(this.#address.cursors.slice(0, -1)))
    addEventListener('popstate', ({ state }) => {
      this.#address = readAddress(location.search, state)
      this.#showControls()
      void this.load()
    })
  }

  /** Shows a page, by default the first one, with the chosen filter and page size. */
  #goToPage(cursors: readonly (string | undefined)[] = [undefined]): void {
    const status = document.querySelector<HTMLInputElement>('input[name="filter"]:checked')?.value ?? ''
    const limit = byId<HTMLSelectElement>('page-size').value
    const isTrailKnown = this.#address.isTrailKnown || cursors.length === 1
    this.#address = { status, limit, cursors, isTrailKnown }
    history.pushState({ cursors }, '', location.pathname + queryOf(this.#address))
    void this.load()
  }

  #showControls(): void {
    const { status, limit } = this.#address
    const choice = document.querySelector<HTMLInputElement>(`input[name="filter"][value="${status}"]`)
    if (choice) choice.checked = true
    byId<HTMLSelectElement>('page-size').value = limit
  }

  /** Clears the view after a change of the key, and loads the animals with the new key. */
  reset(): void {
    this.#animals = []
    this.#added = []
    this.#next = undefined
    byId('rows').replaceChildren()
    byId('added-rows').replaceChildren()
    const kept = keptPage(this.#api.key, this.#path(), this.state)
    if (kept === undefined) void this.load()
    else this.#showPage(kept)
  }

  /** Loads the animals again if the last load got no response. */
  retry(): void {
    if (performance.now() >= this.#retryAt) void this.load()
  }

  #path(): string {
    const { status, limit, cursors } = this.#address
    const query = new URLSearchParams({ limit })
    const cursor = cursors.at(-1)
    if (status !== '') query.set('status', status)
    if (cursor !== undefined) query.set('cursor', cursor)
    return `/pets?${query}`
  }

  async load(): Promise<void> {
    this.#load += 1
    const load = this.#load
    if (this.#api.key === '') return this.#showProblem('Enter an API key above to see the animals.', '')
    const path = this.#path()
    byId('animals').setAttribute('aria-busy', 'true')
    this.#retryAt = Number.POSITIVE_INFINITY
    try {
      const exchange = await this.#api.send('GET', path)
      if (load !== this.#load) return
      if (exchange.status !== 200) return this.#showProblem(messageOf(exchange))
      keepPage(this.#api.key, path, this.state, exchange)
      this.#showPage(exchange)
    } catch {
      if (load !== this.#load) return
      this.#retryAt = performance.now() + RETRY_AFTER
      this.#showProblem('The server does not respond. The animals appear when it responds again.')
    } finally {
      if (load === this.#load) byId('animals').setAttribute('aria-busy', 'false')
    }
  }

  #showPage(response: Pick<Exchange, 'responseHeaders' | 'responseBody'>): void {
    this.#next = headerOf(response, 'X-Next-Cursor')
    this.#animals = parsed(response.responseBody) as Animal[]
    this.#show()
  }

  /** Shows and marks an animal that this page or another program has added. */
  addNew(animal: Animal): void {
    if (this.#added.some((other) => isSame(other, animal))) return
    this.#added = [...this.#added, animal].slice(-MAX_ADDED)
    const { status, limit } = this.#address
    const isLastPage = this.#next === undefined && this.#animals.length < Number(limit)
    const isFiltered = status !== '' && status !== animal.status
    // New ids are the largest ones, so a new animal belongs at the end of the last page.
    if (isLastPage && !isFiltered && !this.#animals.some((other) => isSame(other, animal)))
      this.#animals = [...this.#animals, animal]
    if (byId('animals').getAttribute('aria-busy') !== 'true') this.#show()
  }

  #show(): void {
    const { status, cursors, isTrailKnown } = this.#address
    const isNew = (animal: Animal) => this.#added.some((other) => isSame(other, animal))
    const elsewhere = this.#added.filter((added) => !this.#animals.some((animal) => isSame(animal, added)))
    const whereIs = (animal: Animal) =>
      status !== '' && status !== animal.status ? 'hidden by the filter' : 'on another page'
    byId('rows').replaceChildren(...this.#animals.map((animal) => animalRow(animal, isNew(animal) ? 'New' : '')))
    byId('added-rows').replaceChildren(
      ...elsewhere.toReversed().map((animal) => animalRow(animal, `New, ${whereIs(animal)}`)),
    )
    byId('animals').hidden = this.#animals.length + elsewhere.length === 0
    const kind = status === '' ? '' : `${status} `
    const note = byId('animals-note')
    note.className = 'empty'
    note.hidden = this.#animals.length > 0
    setText(note, status === '' ? 'There are no animals yet. Add one below.' : `There are no ${kind}animals.`)
    const page = isTrailKnown ? `Page ${cursors.length}` : 'A later page'
    setText(byId('page-number'), page)
    setText(byId('animals-status'), `${page}: ${plural(this.#animals.length, `${kind}animal`)}.`)
    this.#enablePager(this.#next !== undefined)
  }

  #showProblem(text: string, kind = 'bad'): void {
    const note = byId('animals-note')
    const isEmpty = byId('rows').childElementCount === 0
    byId('animals').hidden = isEmpty
    note.className = `empty ${kind}`
    note.hidden = false
    setText(note, isEmpty ? text : `${text} The table shows the last page that was loaded.`)
    setText(byId('animals-status'), text)
    byId('animals').setAttribute('aria-busy', 'false')
    this.#enablePager(false)
  }

  #enablePager(hasNext: boolean): void {
    const { cursors, isTrailKnown } = this.#address
    setEnabled(byId('next'), hasNext)
    setEnabled(byId('previous'), cursors.length > 1)
    setText(byId('previous'), isTrailKnown ? 'Previous' : 'First page')
  }
}

function isSame(a: Animal, b: Animal): boolean {
  return String(a.id) === String(b.id)
}
