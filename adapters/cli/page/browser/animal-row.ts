import type { Animal } from './api.ts'
import { create, isolated } from './dom.ts'
import { shortened } from './format.ts'

/** The longest name that a row shows in full, in characters. */
const MAX_NAME = 80

export function animalRow({ id, name, categoryId, status }: Animal, mark: string): HTMLElement {
  const cells = {
    id: create('td', 'number id', String(id)),
    name: create('td', 'name', nameElement(name), ...(mark === '' ? [] : [' ', create('span', 'badge good', mark)])),
    categoryId: create('td', 'number category', String(categoryId)),
    status: create('td', 'status', ...(status === undefined ? [] : [create('span', `badge ${status}`, status)])),
  } satisfies Record<keyof Animal, HTMLElement>
  return create('tr', mark === '' ? '' : 'new', ...Object.values(cells))
}

/** Shows only the beginning of a long name, and lets the visitor open the rest. */
function nameElement(name: string): HTMLElement {
  const short = shortened(name, MAX_NAME)
  if (short === name) return isolated(name)
  return create('details', '', create('summary', '', isolated(short)), isolated(name))
}
