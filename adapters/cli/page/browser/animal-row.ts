import type { Animal } from './api.ts'
import { create, isolated } from './dom.ts'
import { shortened } from './format.ts'

/** The longest name that a row shows at once, in characters. */
const MAX_NAME = 80

/** Returns a row of the table. */
export function animalRow({ id, name, categoryId, status }: Animal, mark: string): HTMLElement {
  const cells = [
    create('td', 'number id', String(id)),
    create('td', 'name', nameElement(name), ...(mark === '' ? [] : [' ', create('span', 'badge good', mark)])),
    create('td', 'number category', String(categoryId)),
    create('td', 'status', ...(status === undefined ? [] : [create('span', `badge ${status}`, status)])),
  ]
  return create('tr', mark === '' ? '' : 'new', ...cells)
}

/** Returns the name, or its beginning if it is long: the rest can be opened. */
function nameElement(name: string): HTMLElement {
  const short = shortened(name, MAX_NAME)
  if (short === name) return isolated(name)
  return create('details', 'long-name', create('summary', '', isolated(short)), isolated(name))
}
