import { LosslessNumber, stringify } from 'lossless-json'
import { type NewPet, petStatuses } from '../../../../src/model.ts'
import { type Animal, type Api, messageOf } from './api.ts'
import { byId, isolated, setEnabled, setNote } from './dom.ts'
import { shortened } from './format.ts'

/** After this time, in milliseconds, the button says that the server is slow. */
const SLOW_AFTER = 1_000

export function prepareAddForm(api: Api, onAdded: (animal: Animal) => void): void {
  const button = byId('add')
  const label = button.textContent ?? ''
  byId('status').append(...petStatuses.map((status) => new Option(status)))
  byId('add-form').addEventListener('submit', async (event) => {
    event.preventDefault()
    // A double click, or a click while the server is slow, must not add the animal twice.
    if (button.ariaDisabled === 'true') return
    setEnabled(button, false)
    button.textContent = 'Adding…'
    const slow = setTimeout(
      () => setNote(byId('add-note'), '', 'The server has not responded yet. The animal is sent only once.'),
      SLOW_AFTER,
    )
    try {
      await add(api, onAdded)
    } finally {
      clearTimeout(slow)
      setEnabled(button, true)
      button.textContent = label
    }
  })
}

async function add(api: Api, onAdded: (animal: Animal) => void): Promise<void> {
  const name = byId<HTMLInputElement>('name')
  const note = byId('add-note')
  if (api.key === '') return setNote(note, 'bad', 'Enter an API key above to add an animal.')
  // A JavaScript number would round a category id above 2^53.
  const categoryId = new LosslessNumber(byId<HTMLInputElement>('category').value)
  const status = byId<HTMLSelectElement>('status').value
  try {
    const pet = { name: name.value, categoryId, status } satisfies Record<keyof NewPet, unknown>
    const exchange = await api.send('POST', '/pets', stringify(pet))
    if (exchange.status !== 201) return setNote(note, 'bad', messageOf(exchange))
    const animal = exchange.value as Animal
    name.value = ''
    setNote(note, 'good', isolated(shortened(animal.name)), ` was added with the id ${animal.id}.`)
    onAdded(animal)
  } catch {
    setNote(note, 'bad', 'The server did not respond. When it is back, look for the animal before you add it again.')
  }
}
