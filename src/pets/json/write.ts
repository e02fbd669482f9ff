import { type Pet, petStatuses } from '../../model.ts'
import { describeValue } from '../../support/describe-value.ts'

const NEEDS_ESCAPE = /[^ !#-[\]-~]/
/** The end of an animal in JSON, by its `status`. Databases return `null` for an absent status. */
const ENDS = new Map<unknown, string>([
  [undefined, '}'],
  [null, '}'],
  ...petStatuses.map((status) => [status, `,"status":"${status}"}`] as const),
])

/** Returns a page of animals as JSON. Numbers of `JSON.stringify` would lose digits of ids above 2^53-1. */
export function writePets(pets: readonly Pet[]): string {
  let text = ''
  // Unlike `map`, this loop does not skip the missing items of a sparse array, so `writePet` throws for them.
  for (const pet of pets) text += writePet(pet, text === '' ? '' : ',')
  return `[${text}]`
}

/**
 * Returns an animal as JSON. Checks only what it writes: with the schema `pet`, a page of 20 animals takes 40 µs more beside the 9 µs
 * of this function, which is more than a third of the CPU time of a list over HTTP. `PetStorage` in plain JavaScript may also return
 * numbers for ids.
 * @throws {TypeError} if the storage has returned something else
 */
export function writePet(pet: Pet, separator = ''): string {
  const { id, name, categoryId, status } = pet ?? ({} as Pet)
  const idText = integer(id)
  const categoryText = integer(categoryId)
  const end = ENDS.get(status)
  if (idText !== undefined && categoryText !== undefined && typeof name === 'string' && end !== undefined)
    return `${separator}{"id":${idText},"name":"${escapeQuotes(name)}","categoryId":${categoryText}${end}`
  const members = { id, name, categoryId, status } satisfies Record<keyof Pet, unknown>
  const received = Object.values(members).map(describeValue).join(', ')
  throw new TypeError(`storage: expected an animal with id, name, categoryId and status, got ${received}`)
}

/** Returns an exact integer as text. V8 converts numbers faster than `bigint`. */
function integer(value: unknown): string | undefined {
  const number = safeInteger(value)
  if (number !== undefined) return `${number}`
  return typeof value === 'bigint' ? String(value) : undefined
}

/** Returns an integer of at most 2^53-1 as a number. Storages in plain JavaScript return numbers in place of `bigint`. */
function safeInteger(value: unknown): number | undefined {
  const number = typeof value === 'bigint' ? Number(value) : value
  return Number.isSafeInteger(number) ? (number as number) : undefined
}

function escapeQuotes(text: string): string {
  return NEEDS_ESCAPE.test(text) ? JSON.stringify(text).slice(1, -1) : text
}
