import { INT64_MAX, INT64_MIN, isInt64, type NewPet, type Pet, type PetStatus } from '../../model.ts'
import type { PetQuery, PetStorage } from '../../ports.ts'
import { type BrokenRule, difference, few, recordSteps, type Steps, show } from './report.ts'

/** A storage, with checks that its results are those of a plain list. */
export interface CheckedStorage {
  /** The storage without checks of its content. */
  readonly storage: PetStorage
  readonly steps: Steps
  /** The animals that the storage must have, by ascending id. */
  readonly pets: readonly Pet[]
  /** Adds animals at once. */
  create(...newcomers: readonly NewPet[]): Promise<readonly Pet[]>
  list(query: PetQuery): Promise<readonly Pet[]>
  get(id: bigint): Promise<void>
  /** Reads all pages, each after the last id of the page before. */
  walk(query: PetQuery): Promise<void>
}

/** Adds checks to a storage, which must be empty. */
export async function checkedStorage(storage: PetStorage, steps: Steps): Promise<CheckedStorage> {
  const pets: Pet[] = []
  const [old] = await listed(storage, recordSteps(), { limit: 1 })
  if (old)
    throw steps.broken(`a new storage has animal ${old.id}: open() must return an empty one`, 'no animal', show(old))

  const list = async (query: PetQuery) => {
    const page = await listed(storage, steps, query)
    checkContent(steps, query, page, pets)
    return page
  }
  return {
    storage,
    steps,
    pets,
    list,
    async create(...newcomers) {
      const before = pets.at(-1)?.id
      const created = await Promise.all(newcomers.map((pet) => added(storage, steps, pet, before)))
      for (const pet of created) {
        if (pets.some(({ id }) => id === pet.id)) throw idTwice(steps, pet.id)
        pets.push({ ...pet })
      }
      pets.sort((a, b) => (a.id < b.id ? -1 : 1))
      return created
    },
    async get(id) {
      const expected = pets.find((pet) => pet.id === id)
      const rule = expected ? 'create has returned this animal' : 'for no animal, get returns undefined or null'
      const found = await steps.call(`get(${id}n)`, () => storage.get(id), rule, showPet)
      checkFound(steps, `get(${id}n)`, found, expected)
    },
    async walk(query) {
      for (let after: bigint | undefined, left = pets.length; left >= 0; left--) {
        const page = await list({ ...query, after })
        if (page.length === 0) return
        after = page.at(-1)?.id
      }
    },
  }
}

/** Returns the error for an id that `create` has returned before. */
export function idTwice(steps: Steps, id: bigint): BrokenRule {
  return steps.broken(`create returned id ${id} twice: each animal has an id of its own`, 'a new id', show(id))
}

/** Adds an animal. Checks what `create` returns, and that its id is above `before`. */
export async function added(storage: PetStorage, steps: Steps, pet: NewPet, before: bigint | undefined): Promise<Pet> {
  const text = `create(${show(pet)})`
  const created: Pet = await steps.call(text, () => storage.create(pet), 'create adds any valid animal', showPet)
  const broken = (what: string, expected: string) => steps.broken(`create returned ${what}`, expected, show(created))
  if (typeof created !== 'object' || created === null)
    throw broken(`${show(created)}: create returns the new animal`, show({ id: 1n, ...pet }))
  const { id } = created
  if (typeof id !== 'bigint') throw broken(`the id ${show(id)}, a ${typeof id}: an id is a bigint`, 'an id such as 1n')
  if (!isInt64(id)) throw broken(`the id ${id}: an id is an int64`, `an id from ${INT64_MIN} to ${INT64_MAX}`)
  const differs = difference(created, { id, ...pet })
  if (differs) throw broken(`an animal ${differs.rule}`, show({ id, ...pet }))
  if (before !== undefined && id <= before) {
    const rule = id === before ? `twice: each animal has an id of its own` : `after id ${before}: ids ascend`
    throw steps.broken(`create returned id ${id} ${rule}`, `an id above ${before}n`, `${id}n`)
  }
  return created
}

/** Checks an animal that `get` or `list` has returned by its id. */
export function checkFound(steps: Steps, text: string, found: Pet | null | undefined, expected: Pet | undefined): void {
  const broken = (what: string) =>
    steps.broken(`${text} returned ${what}`, expected ? show(expected) : 'undefined or null', show(found))
  if (found === undefined || found === null) {
    if (expected) throw broken(`${found}: create has returned animal ${expected.id}, so it must be stored`)
    return
  }
  if (!expected) throw broken(`${showPet(found)}: for no animal, get returns undefined or null`)
  if (typeof found !== 'object') throw broken(`${show(found)}: get returns the animal`)
  if (found.id !== expected.id) throw broken(`${showPet(found)}: get returns the animal with this id`)
  const differs = difference(found, expected)
  if (differs) throw broken(`animal ${expected.id} ${differs.rule}`)
}

/** Reads one page, and checks the rules for which no other animal needs to be known. */
export async function listed(storage: PetStorage, steps: Steps, query: PetQuery): Promise<readonly Pet[]> {
  const page = await steps.call(
    `list(${show(query)})`,
    () => storage.list(query),
    'it returns an array, which may be empty',
    (result) => (Array.isArray(result) ? showIds(result) : show(result)),
  )
  if (!Array.isArray(page))
    throw steps.broken(`list(${show(query)}) returned ${show(page)}: list returns an array`, 'an array', show(page))
  const { after, limit, status } = query
  const broken = (part: Partial<PetQuery>, what: string, expected: string) =>
    steps.broken(`list(${show(part)}) returned ${what}`, expected, showIds(page))
  page.forEach((pet: Pet, i) => {
    const name = showPet(pet)
    if (typeof pet?.id !== 'bigint')
      throw broken(query, `${show(pet)}: an animal has a bigint as id`, 'animals with ids such as 1n')
    if (pet.id === after) throw broken({ after }, `${name}: after is exclusive`, `only ids above ${after}n`)
    if (after !== undefined && pet.id < after)
      throw broken({ after }, `${name}: list returns only ids above after`, `only ids above ${after}n`)
    if (status !== undefined && pet.status !== status) {
      const has = pet.status === undefined ? 'without a status' : `with status ${show(pet.status)}`
      throw broken({ status }, `${name} ${has}: list returns only the status of the query`, `only ${status} animals`)
    }
    const before = page[i - 1]
    if (before?.id === pet.id) throw broken(query, `${name} twice`, 'each animal once')
    if (before && before.id > pet.id)
      throw broken(query, `${name} after ${showPet(before)}: ids ascend`, 'animals by ascending id')
  })
  if (page.length > limit)
    throw broken(
      { limit },
      `${page.length} animals: limit is the largest number of animals`,
      `at most ${limit} animals`,
    )
  return page
}

/** Checks a page by all animals that the storage must have. */
function checkContent(steps: Steps, query: PetQuery, page: readonly Pet[], pets: readonly Pet[]): void {
  const text = `list(${show(query)})`
  const expected = expectedPage(pets, query)
  const received = new Set(page.map(({ id }) => id))
  const unknown = page.find(({ id }) => !pets.some((pet) => pet.id === id))
  if (unknown)
    throw steps.broken(`${text} returned ${showPet(unknown)}, which create has not`, showIds(expected), showIds(page))
  const left = expected.findIndex(({ id }) => !received.has(id))
  if (left >= 0) {
    const rule =
      page.length < expected.length
        ? 'a page is full unless no more animals match'
        : 'a page has the smallest ids that match'
    const from = Math.max(0, left - 2)
    throw steps.broken(
      `${text} left out animal ${expected[left]?.id}: ${rule}`,
      showIds(expected, from),
      showIds(page, from),
    )
  }
  page.forEach((pet, i) => void checkFound(steps, `list(${show(query)})`, pet, expected[i]))
}

/** Returns the animals that `list` must return. */
function expectedPage(pets: readonly Pet[], { limit, after, status }: PetQuery): Pet[] {
  const matching = pets.filter((pet) => (after === undefined || pet.id > after) && matches(pet, status))
  return matching.slice(0, limit)
}

export function matches(pet: Pet, status: PetStatus | undefined): boolean {
  return status === undefined || pet.status === status
}

/** Returns the ids of animals as text, from the one at the index `from`. */
export function showIds(pets: readonly Pet[], from = 0): string {
  if (pets.length === 0) return 'no animals'
  const ids = pets.slice(from).map((pet) => show(pet?.id).replace(/n$/, ''))
  return `${pets.length === 1 ? 'animal' : 'animals'} ${from > 0 ? '…, ' : ''}${few(ids)}`
}

export function showPet(pet: Pet | null | undefined): string {
  return typeof pet === 'object' && pet !== null && 'id' in pet ? `animal ${pet.id}` : show(pet)
}
