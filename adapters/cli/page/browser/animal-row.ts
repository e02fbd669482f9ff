import type { Animal } from './api.ts'
import { create, isolated } from './dom.ts'
import { shortened } from './format.ts'

/** @param statusElement - shows the status, and perhaps opens the menu of the animal */
export function animalRow({ id, name, categoryId }: Animal, isNew: boolean, statusElement: HTMLElement): HTMLElement {
  const cells = {
    id: [String(id)],
    name: [nameElement(name), ...(isNew ? [' ', create('span', 'badge good', 'New')] : [])],
    categoryId: [String(categoryId)],
    status: [statusElement],
  } satisfies Record<keyof Animal, (Node | string)[]>
  return create('tr', isNew ? 'good' : '', ...Object.values(cells).map((parts) => create('td', '', ...parts)))
}

/** Shows only the beginning of a long name, and lets the visitor open the rest. */
function nameElement(name: string): HTMLElement {
  const short = shortened(name)
  if (short === name) return isolated(name)
  return create('details', '', create('summary', '', isolated(short)), isolated(name))
}
