import { LosslessNumber, stringify } from 'lossless-json'
import { type Animal, type Api, messageOf, type SendOptions } from './api.ts'
import { byId, create, setNote, setText } from './dom.ts'

/** Shows the animals in pages, and adds new animals. */
export class AnimalsView {
  readonly #api: Api
  /** The cursors of all pages up to the current page. The first page has no cursor. */
  #cursors: (string | undefined)[] = [undefined]
  #next: string | undefined
  /** The last animal that the visitor has added. */
  #added: Animal | undefined
  /** The number of loads so far. A late response to an older load is ignored. */
  #load = 0

  constructor(api: Api) {
    this.#api = api
    byId('filter').addEventListener('change', () => this.#restart())
    byId('page-size').addEventListener('change', () => this.#restart())
    byId('refresh').addEventListener('click', () => void this.load())
    byId('next').addEventListener('click', () => this.#turn([...this.#cursors, this.#next]))
    byId('previous').addEventListener('click', () => this.#turn(this.#cursors.slice(0, -1)))
    byId('add-form').addEventListener('submit', (event) => {
      event.preventDefault()
      void this.#add()
    })
  }

  /** Shows the first page again, for example after the key has changed. */
  #restart(): void {
    this.#turn([undefined])
  }

  #turn(cursors: (string | undefined)[]): void {
    this.#cursors = cursors
    void this.load()
  }

  /** Clears the view, because it shows the animals of the previous key. */
  reset(): void {
    byId('rows').replaceChildren()
    this.#added = undefined
    setNote(byId('add-note'), '')
    this.#restart()
  }

  /** Loads the current page. */
  async load(options?: SendOptions): Promise<void> {
    const load = ++this.#load
    if (this.#api.key === '') return this.#showProblem('Enter an API key above to see the animals.', '')
    const query = new URLSearchParams({ limit: byId<HTMLSelectElement>('page-size').value })
    const status = filterStatus()
    const cursor = this.#cursors.at(-1)
    if (status !== '') query.set('status', status)
    if (cursor !== undefined) query.set('cursor', cursor)
    byId('animals').setAttribute('aria-busy', 'true')
    try {
      const exchange = await this.#api.send('GET', `/pets?${query}`, undefined, options)
      if (load !== this.#load) return
      if (exchange.status !== 200) return this.#showProblem(messageOf(exchange))
      this.#next = exchange.headers.get('X-Next-Cursor') ?? undefined
      this.#show(exchange.body as Animal[], status)
    } catch {
      if (load === this.#load) this.#showProblem('The server does not respond. Is it still running?')
    } finally {
      if (load === this.#load) byId('animals').setAttribute('aria-busy', 'false')
    }
  }

  #show(animals: readonly Animal[], status: string): void {
    const added = this.#added
    const isAdded = ({ id }: Animal) => String(id) === String(added?.id)
    byId('rows').replaceChildren(...animals.map((animal) => row(animal, isAdded(animal))))
    if (added !== undefined) setNote(byId('add-note'), addedNote(added, status, animals.some(isAdded)), 'good')
    byId('animals').hidden = animals.length === 0
    const kind = status === '' ? '' : `${status} `
    const note = byId('animals-note')
    note.className = 'empty'
    note.hidden = animals.length > 0
    setText(note, status === '' ? 'There are no animals yet. Add one below.' : `There are no ${kind}animals.`)
    const page = this.#cursors.length
    setText(byId('page-number'), `Page ${page}`)
    setText(byId('animals-status'), `Page ${page}: ${animals.length} ${kind}animals.`)
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
    byId<HTMLButtonElement>('next').disabled = !hasNext
    byId<HTMLButtonElement>('previous').disabled = this.#cursors.length === 1
  }

  async #add(): Promise<void> {
    const name = byId<HTMLInputElement>('name')
    const note = byId('add-note')
    // A JavaScript number would round a category id above 2^53.
    const categoryId = new LosslessNumber(byId<HTMLInputElement>('category').value)
    const status = byId<HTMLSelectElement>('status').value
    try {
      const exchange = await this.#api.send('POST', '/pets', stringify({ name: name.value, categoryId, status }))
      if (exchange.status !== 201) {
        setNote(note, messageOf(exchange), 'bad')
        return
      }
      const animal = exchange.body as Animal
      this.#added = animal
      name.value = ''
      setNote(note, addedNote(animal), 'good')
      await this.load({ isShown: false })
    } catch {
      setNote(note, 'The server does not respond. Is it still running?', 'bad')
    }
  }
}

function filterStatus(): string {
  return document.querySelector<HTMLInputElement>('input[name="filter"]:checked')?.value ?? ''
}

/** Returns a note about an added animal, and, after a page has been loaded, where to find the animal. */
function addedNote({ id, name, status }: Animal, filter?: string, isOnPage = false): string {
  const note = `${name} was added with the id ${id}.`
  if (filter === undefined) return note
  if (isOnPage) return `${note} It is marked in the table.`
  const isHidden = filter !== '' && filter !== status
  return `${note} ${isHidden ? `The filter hides it: choose All or ${status} to see it.` : 'It is on another page.'}`
}

function row({ id, name, categoryId, status }: Animal, isNew: boolean): HTMLElement {
  const label = isNew ? [' ', create('span', 'badge good', 'New')] : []
  return create(
    'tr',
    isNew ? 'new' : '',
    create('td', 'number', String(id)),
    create('td', '', name, ...label),
    create('td', 'number', String(categoryId)),
    create('td', '', ...(status === undefined ? [] : [create('span', `badge ${status}`, status)])),
  )
}
