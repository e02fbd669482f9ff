import type { Arbitrary, AsyncCommand } from 'fast-check'
import { INT64_MAX, INT64_MIN, type NewPet, type Pet, type PetStatus, petStatuses } from '../../model.ts'
import type { PetQuery, PetStorage } from '../../ports.ts'
import { describe } from '../../support/describe-value.ts'
import { int64s, newPets } from './arbitraries.ts'
import { check, checkEqual, show } from './assert.ts'
import { command } from './command.ts'
import type { FastCheck } from './fast-check.ts'

/** The expected content of a storage: every animal, by ascending id. */
export type StorageModel = Pet[]
type StorageCommand = AsyncCommand<StorageModel, PetStorage>

/** A way to choose an id. The ids in the storage are known only while a sequence runs. */
interface Place {
  locate(pets: readonly Pet[]): bigint
  toString(): string
}

/** Returns generators of calls to a storage. */
export function storageCommands(fc: FastCheck): Arbitrary<StorageCommand>[] {
  const pets = newPets(fc)
  const status = fc.option(fc.constantFrom(...petStatuses), { nil: undefined })
  const limit = fc.oneof(fc.integer({ min: 1, max: 101 }), fc.integer({ min: 1, max: 4 }), fc.constantFrom(100, 101))
  const place = places(fc)
  return [
    fc.array(pets, { minLength: 1, maxLength: 1 }).map(createSome),
    fc.array(pets, { minLength: 2, maxLength: 12 }).map(createSome),
    fc.tuple(limit, status, fc.option(place, { nil: undefined })).map((page) => listPage(...page)),
    fc.tuple(fc.integer({ min: 1, max: 5 }), status).map((walked) => walk(...walked)),
    place.map(get),
  ]
}

/** Functions that return an id, or another id that a storage might confuse with it. */
const DISTORTIONS = {
  'the id': (id: bigint) => id,
  'one below the id': (id: bigint) => id - 1n,
  'one above the id': (id: bigint) => id + 1n,
  'the negative of the id': (id: bigint) => -id,
  'another id of the same 32 bits': (id: bigint) => id + 2n ** 32n,
}

function places(fc: FastCheck): Arbitrary<Place> {
  const names = Object.keys(DISTORTIONS) as (keyof typeof DISTORTIONS)[]
  const among = fc
    .tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.constantFrom<keyof typeof DISTORTIONS>('the id', ...names))
    .map(([part, name]) => ({
      locate: (pets: readonly Pet[]) => clamp(DISTORTIONS[name](pets[Math.floor(part * (pets.length - 1))]?.id ?? 0n)),
      toString: () => `${name} ${Math.round(part * 100)} % of the way`,
    }))
  const fixed = int64s(fc).map((id) => ({ locate: () => id, toString: () => String(id) }))
  return fc.oneof({ arbitrary: among, weight: 3 }, { arbitrary: fixed, weight: 1 })
}

function clamp(id: bigint): bigint {
  if (id < INT64_MIN) return INT64_MIN
  return id > INT64_MAX ? INT64_MAX : id
}

/** Returns the animals that `list` must return. */
export function expectedPage(pets: readonly Pet[], { limit, after, status }: PetQuery): Pet[] {
  const matching = pets.filter((pet) => (after === undefined || pet.id > after) && matches(pet, status))
  return matching.slice(0, limit)
}

export function matches(pet: Pet, status: PetStatus | undefined): boolean {
  return status === undefined || pet.status === status
}

/** Adds an animal. Checks that the storage returns an object, because a later check would fail with an unclear message. */
export async function create(storage: PetStorage, pet: NewPet): Promise<Pet> {
  const created: unknown = await storage.create(pet)
  check(typeof created === 'object' && created !== null, `create: expected an animal, got ${describe(created)}`)
  return created as Pet
}

/** Reads one page, and checks that it is an array. */
export async function list(storage: PetStorage, query: PetQuery): Promise<readonly Pet[]> {
  const page = await storage.list(query)
  check(Array.isArray(page), `list ${show(query)}: expected an array, got ${describe(page)}`)
  return page
}

/** Checks the members of a new animal, and that its id is greater than `before`. */
export function checkCreated(created: Pet, pet: NewPet, before: bigint | undefined): void {
  check(typeof created.id === 'bigint', `create: expected a bigint as id, got ${show(created.id)}`)
  check(created.id <= INT64_MAX && created.id >= INT64_MIN, `create: expected an int64 as id, got ${created.id}`)
  checkEqual(created, { ...pet, id: created.id }, 'create')
  if (before !== undefined) check(created.id > before, `create: expected an id above ${before}, got ${created.id}`)
}

/** Returns a call that adds all the given animals at once. */
function createSome(newcomers: readonly NewPet[]): StorageCommand {
  return command(`create ${newcomers.map(show).join(' and at once ')}`, async (model, storage) => {
    const before = model.at(-1)?.id
    const created = await Promise.all(newcomers.map((pet) => create(storage, pet)))
    created.forEach((pet, i) => void checkCreated(pet, newcomers[i] as NewPet, before))
    checkEqual(new Set(created.map(({ id }) => id)).size, created.length, 'create: how many different ids')
    model.push(...created.map((pet) => ({ ...pet })).sort((a, b) => (a.id < b.id ? -1 : 1)))
  })
}

function listPage(limit: number, status: PetStatus | undefined, place: Place | undefined): StorageCommand {
  return command(`list ${show({ limit, status })} after ${place ?? 'nothing'}`, async (model, storage) => {
    const query = { limit, status, after: place?.locate(model) }
    checkEqual(await list(storage, query), expectedPage(model, query), `list ${show(query)}`)
  })
}

/** Returns a call that reads all pages, each after the last id of the page before. */
function walk(limit: number, status: PetStatus | undefined): StorageCommand {
  return command(`walk ${show({ limit, status })}`, async (model, storage) => {
    const seen: Pet[] = []
    for (;;) {
      const page = await list(storage, { limit, status, after: seen.at(-1)?.id })
      check(page.length <= limit, `list: expected at most ${limit} animals, got ${page.length}`)
      // With more animals than the storage has, the pages repeat themselves: stop.
      if (page.length === 0 || seen.length > model.length) break
      seen.push(...page)
    }
    const expected = model.filter((pet) => matches(pet, status))
    checkEqual(seen, expected, `all pages of ${status ?? 'any status'}`)
  })
}

function get(place: Place): StorageCommand {
  return command(`get ${place}`, async (model, storage) => {
    const id = place.locate(model)
    const expected = model.find((pet) => pet.id === id)
    checkEqual(await storage.get(id), expected, `get ${id}`)
  })
}
