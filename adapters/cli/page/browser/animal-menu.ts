import type { PetStatus } from '../../../../src/model.ts'
import type { Animal, Api } from './api.ts'
import { byId, create, isolated, setNote } from './dom.ts'
import { shortened } from './format.ts'

/** What the note says after a change to this status. */
const DONE: Readonly<Record<PetStatus, string>> = {
  available: ' is available now.',
  pending: ' is reserved now.',
  sold: ' is sold now.',
}

/** The id stays the same when the rows are shown again. */
const buttonId = ({ id }: Animal) => `status-${id}`

interface Listener {
  onReplaced(animal: Animal): void
  onRemoved(animal: Animal): void
  /** Called after each successful change. */
  onChange(): void
}

/** The menu of an animal, which its status opens. All rows share one element. */
export class AnimalMenu {
  readonly #api: Api
  readonly #listener: Listener
  readonly #menu = byId('menu')
  #animal: Animal | undefined

  constructor(api: Api, listener: Listener) {
    this.#api = api
    this.#listener = listener
    for (const button of this.#menu.querySelectorAll('button'))
      button.addEventListener('click', () => void this.#choose(button.value as PetStatus | ''))
    this.#menu.addEventListener('toggle', ({ newState }) => {
      // The browser cannot return the focus if the rows have been shown again meanwhile.
      const { activeElement, body } = document
      const isLost = newState === 'closed' && (activeElement === body || this.#menu.contains(activeElement))
      if (isLost && this.#animal) document.getElementById(buttonId(this.#animal))?.focus()
    })
    this.#menu.addEventListener('focusout', ({ relatedTarget }) => {
      // Safari focuses no button at a click, so `null` does not mean that the visitor has left.
      if (relatedTarget !== null && !this.#menu.contains(relatedTarget as Node)) this.#menu.hidePopover()
    })
  }

  /** Returns a button with the status of an animal. */
  buttonFor(animal: Animal): HTMLElement {
    const button = create('button', `badge ${animal.status}`, animal.status) as HTMLButtonElement
    button.type = 'button'
    button.id = buttonId(animal)
    button.ariaLabel = `${animal.status}, change ${shortened(animal.name)}`
    button.popoverTargetElement = this.#menu
    // The browser opens or closes the menu after this listener.
    button.addEventListener('click', () => this.#prepare(animal, button))
    return button
  }

  #prepare(animal: Animal, button: HTMLElement): void {
    if (this.#animal !== animal && this.#menu.matches(':popover-open')) this.#menu.hidePopover()
    this.#animal = animal
    byId('menu-title').replaceChildren(isolated(shortened(animal.name)))
    for (const choice of this.#menu.querySelectorAll('button')) choice.hidden = choice.value === animal.status
    const { right, bottom } = button.getBoundingClientRect()
    this.#menu.style.top = `${bottom + scrollY}px`
    this.#menu.style.right = `${document.documentElement.clientWidth - right - scrollX}px`
  }

  /** @param choice - the new status; empty to remove the animal */
  async #choose(choice: PetStatus | ''): Promise<void> {
    const animal = this.#animal
    this.#menu.hidePopover()
    if (animal === undefined) return
    const name = shortened(animal.name)
    if (choice === '' && !confirm(`Remove ${name} for good?`)) return
    const note = byId('animals-note')
    try {
      const { applied, pet } = await this.#api.change(animal, choice || undefined)
      if (pet === null || (applied && choice === '')) this.#listener.onRemoved(animal)
      else this.#listener.onReplaced(pet)
      if (applied) this.#listener.onChange()
      if (applied) setNote(note, 'good', isolated(name), choice === '' ? ' was removed.' : DONE[choice])
      else if (pet === null) setNote(note, 'bad', isolated(name), ' was removed in the meantime.')
      else setNote(note, 'bad', isolated(name), ` has changed in the meantime: its status is ${pet.status}.`)
    } catch {
      setNote(note, 'bad', isolated(name), ' was not changed: the server did not respond as expected.')
    }
  }
}
