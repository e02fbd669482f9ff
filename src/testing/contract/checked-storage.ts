import { INT64_MAX, isInt64, type NewPet, type Pet, type PetStatus } from '../../model.ts'
import type { CreatedPet, PetQuery, PetStorage } from '../../ports.ts'
import type { ManualClock } from '../clock.ts'
import { few, recordSteps, type Steps, show } from './report.ts'

/** A storage whose results are compared with those of a plain list. */
export interface CheckedStorage {
  readonly storage: PetStorage
  readonly steps: Steps
  readonly clock: ManualClock
  /** The animals that the storage must have, by ascending id. */
  readonly pets: Pet[]
  /** Adds all animals at the same time. */
  create(...newcomers: readonly NewPet[]): Promise<readonly Pet[]>
  list(query: PetQuery): Promise<readonly Pet[]>
  get(id: bigint): Promise<void>
  walk(query: PetQuery): Promise<void>
  /** Opens the storage again, and checks that it still has the animals. */
  reopen(): Promise<void>
}

/** Adds checks to an empty storage. */
export async function checkedStorage(
  opened: PetStorage,
  steps: Steps,
  clock: ManualClock,
  reopen: () => Promise<PetStorage>,
): Promise<CheckedStorage> {
  let storage = opened
  const pets: Pet[] = []
  const [old] = await listed(storage, recordSteps(), { limit: 1 })
  steps.check(!old, `a new storage has animal ${old?.id}: open() must return an empty one`, 'no animal', old)

  const list = async (query: PetQuery) => {
    const page = await listed(storage, steps, query)
    const left = pets.find((pet) => !page.some(({ id }) => id === pet.id))
    if (left && expectedPage(pets, query).includes(left)) await checkGet(storage, steps, left.id, left)
    checkContent(steps, query, page, pets)
    return page
  }
  return {
    get storage() {
      return storage
    },
    steps,
    clock,
    pets,
    list,
    async create(...newcomers) {
      const before = pets.at(-1)?.id
      const created = await Promise.all(newcomers.map((pet) => added(storage, steps, pet, before)))
      for (const pet of created) {
        checkNewId(steps, pet.id, pets)
        pets.push({ ...pet })
      }
      pets.sort((a, b) => (a.id < b.id ? -1 : 1))
      return created
    },
    get(id) {
      const expected = pets.find((pet) => pet.id === id)
      return checkGet(storage, steps, id, expected)
    },
    async walk(query) {
      for (let after: bigint | undefined, left = pets.length; left >= 0; left--) {
        const page = await list({ ...query, after })
        if (page.length === 0) return
        after = page.at(-1)?.id
      }
    },
    async reopen() {
      storage = await reopen()
      for (const pet of pets) await checkGet(storage, steps, pet.id, pet)
      await list({ limit: pets.length + 1 })
    },
  }
}

export function checkNewId(steps: Steps, id: bigint, earlier: readonly Pet[]): void {
  const isNew = earlier.every((pet) => pet.id !== id)
  steps.check(isNew, `create returned id ${id} twice: each animal has an id of its own`, 'a new id', id)
}

export async function added(storage: PetStorage, steps: Steps, pet: NewPet, before: bigint | undefined): Promise<Pet> {
  const text = `create(${show(pet)})`
  const created: Pet = await steps.call(text, () => storage.create(pet), 'create adds any valid animal', showPet)
  checkAdded(steps, pet, created, before)
  return created
}

/** Checks an animal that `create` has returned, and that its id is above `before`. */
export function checkAdded(steps: Steps, pet: NewPet, created: CreatedPet, before: bigint | undefined): void {
  const check = (holds: boolean, what: string, expected: unknown, received: unknown = created) =>
    steps.check(holds, `create returned ${what}`, expected, received)
  const isObject = typeof created === 'object' && created !== null
  check(isObject, `${show(created)}: create returns the new animal`, { id: 1n, ...pet })
  const { id } = created
  check(typeof id === 'bigint', `the id ${show(id)}, a ${typeof id}: an id is a bigint`, 'an id such as 1n')
  check(isInt64(id), `the id ${id}: an id is an int64`, `an id from 1 to ${INT64_MAX}`)
  check(id >= 1n, `the id ${id}: the smallest id is 1`, 'an id of at least 1n')
  steps.checkEqual('create returned an animal', created, { id, ...pet })
  if (before === undefined) return
  check(id !== before, `id ${id} twice: each animal has an id of its own`, `an id above ${before}n`, id)
  check(id > before, `id ${id} after id ${before}: ids ascend`, `an id above ${before}n`, id)
}

export async function checkGet(
  storage: PetStorage,
  steps: Steps,
  id: bigint,
  expected: Pet | undefined,
): Promise<void> {
  const rule = expected ? 'create has returned this animal' : 'for no animal, get returns undefined or null'
  const found = await steps.call(`get(${id}n)`, () => storage.get(id), rule, showPet)
  checkFound(steps, `get(${id}n)`, found, expected)
}

/** Checks an animal from `get` or `list`. */
export function checkFound(steps: Steps, text: string, found: Pet | null | undefined, expected: Pet | undefined): void {
  const check = (holds: boolean, what: string) =>
    steps.check(holds, `${text} returned ${what}`, expected ?? 'undefined or null', found)
  if (found === undefined || found === null) {
    check(!expected, `${found}: animal ${expected?.id} was lost, although create had returned it`)
    return
  }
  check(expected !== undefined, `${showPet(found)}: for no animal, get returns undefined or null`)
  check(typeof found === 'object', `${showPet(found)}: get returns the animal`)
  check(found.id === expected?.id, `${showPet(found)}: get returns the animal with this id`)
  steps.checkEqual(`${text} returned animal ${found.id}`, found, { ...expected })
}

/** Reads one page, and checks the rules that concern this page alone. */
export async function listed(storage: PetStorage, steps: Steps, query: PetQuery): Promise<readonly Pet[]> {
  const text = `list(${show(query)})`
  const showPage = (page: readonly Pet[]) => (Array.isArray(page) ? showIds(page) : show(page))
  const page = await steps.call(text, () => storage.list(query), 'it returns an array, which may be empty', showPage)
  const shown = showPage(page)
  steps.check(Array.isArray(page), `${text} returned ${shown}: list returns an array`, 'an array', shown)
  const { after, limit, status } = query
  const check = (holds: boolean, part: Partial<PetQuery>, what: string, expected: string) =>
    steps.check(holds, `list(${show(part)}) returned ${what}`, expected, shown)
  const wrong = page.findIndex((pet: Pet) => typeof pet?.id !== 'bigint')
  check(wrong < 0, query, `${show(page[wrong])}: an animal has a bigint as id`, 'animals with ids such as 1n')
  page.forEach((pet, i) => {
    const name = showPet(pet)
    if (after !== undefined) {
      check(pet.id !== after, { after }, `${name}: after is exclusive`, `only ids above ${after}n`)
      check(pet.id > after, { after }, `${name}: list returns only ids above after`, `only ids above ${after}n`)
    }
    const has = pet.status === undefined ? 'without a status' : `with status ${show(pet.status)}`
    const rule = `${name} ${has}: list returns only the status of the query`
    check(matches(pet, status), { status }, rule, `only ${status} animals`)
    const before = page[i - 1]
    if (before === undefined) return
    check(pet.id !== before.id, query, `${name} twice`, 'each animal once')
    check(pet.id > before.id, query, `${name} after ${showPet(before)}: ids ascend`, 'animals by ascending id')
  })
  const rule = `${page.length} animals: limit is the largest number of animals`
  check(page.length <= limit, { limit }, rule, `at most ${limit} animals`)
  return page
}

function checkContent(steps: Steps, query: PetQuery, page: readonly Pet[], pets: readonly Pet[]): void {
  const text = `list(${show(query)})`
  const expected = expectedPage(pets, query)
  const unknown = page.find(({ id }) => !pets.some((pet) => pet.id === id))
  const stranger = `${text} returned ${showPet(unknown)}, which create has not`
  steps.check(!unknown, stranger, showIds(expected), showIds(page))
  const left = expected.findIndex(({ id }) => !page.some((pet) => pet.id === id))
  const isFull = page.length >= expected.length
  const rule = isFull ? 'a page has the smallest ids that match' : 'a page is full unless no more animals match'
  const from = Math.max(0, left - 2)
  const sentence = `${text} left out animal ${expected[left]?.id}: ${rule}`
  steps.check(left < 0, sentence, showIds(expected, from), showIds(page, from))
  page.forEach((pet, i) => void checkFound(steps, text, pet, expected[i]))
}

function expectedPage(pets: readonly Pet[], { limit, after, status }: PetQuery): Pet[] {
  const matching = pets.filter((pet) => (after === undefined || pet.id > after) && matches(pet, status))
  return matching.slice(0, limit)
}

export function matches(pet: Pet, status: PetStatus | undefined): boolean {
  return status === undefined || pet.status === status
}

/** Returns the ids of the animals from the index `from`, as text. */
export function showIds(pets: readonly Pet[], from = 0): string {
  if (pets.length === 0) return 'no animals'
  const ids = pets.slice(from).map((pet) => show(pet?.id).replace(/n$/, ''))
  return `${pets.length === 1 ? 'animal' : 'animals'} ${from > 0 ? '…, ' : ''}${few(ids)}`
}

function showPet(pet: Pet | null | undefined): string {
  return typeof pet === 'object' && pet !== null && 'id' in pet ? `animal ${pet.id}` : show(pet)
}
