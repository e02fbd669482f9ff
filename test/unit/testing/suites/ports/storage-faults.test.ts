import { describe, test } from 'vitest'
import { memory, type Pet, type PetStorage } from '../../../../../src/index.ts'
import { storageContract } from '../../../../../src/testing/index.ts'
import { expectReport, firstFailure, openFaulty, type PlantedFaults, pageOf, timer } from './planted-faults.ts'

const FAULTS: PlantedFaults<PetStorage> = {
  'list returns an animal twice': {
    report: 'list({ limit: 10 }) returned animal 1 twice',
    plant: (sound) => ({
      list: async (query) => {
        const page = await sound.list(query)
        return page.length < query.limit ? page.flatMap((pet) => [pet, pet]) : page
      },
    }),
  },
  'list returns animals that nobody has added': {
    report: 'list({ limit: 10 }) returned animal 999, which create has never returned',
    plant: (sound) => ({
      list: async (query) => {
        const page = await sound.list(query)
        return query.limit > Math.max(1, page.length) ? [...page, { id: 999n, name: 'Rex', categoryId: 1n }] : page
      },
    }),
  },
  'list leaves out the first animal': {
    report: 'list({ limit: 2 }) left out animal 1: a page must have the smallest ids that match',
    plant: (sound) => ({
      list: async (query) =>
        (await sound.list({ ...query, limit: query.limit + 1 })).slice(query.limit > 1 ? -query.limit : 0),
    }),
  },
  'list returns ids below `after`': {
    report: 'list({ after: 2n }) returned animal 1: list must return only ids above `after`',
    plant: (sound) => ({
      list: async (query) =>
        (await sound.list({ ...query, limit: 1_000, after: undefined }))
          .filter(({ id }) => id !== query.after)
          .slice(0, query.limit),
    }),
  },
  'list ends early for a status': {
    report: 'the pages of list left out animal 4, which create had returned',
    plant: (sound) => ({
      list: (query) =>
        query.status === 'sold' && query.limit === 1 && (query.after ?? 0n) > 2n ? [] : sound.list(query),
    }),
  },
  'create gives an id above int64': {
    report: 'create returned the id 9223372036854775808: an id is an int64',
    plant: () => listOf(() => 2n ** 63n),
  },
  'get returns the previous animal': {
    report: 'get(4n) returned animal 3: get must return the animal with this id',
    plant: (sound) => ({ get: (id) => sound.get(id === 4n ? 3n : id) }),
  },
  'get returns a name': {
    report: 'get(1n) returned "Rex": get must return the animal',
    plant: (sound) => ({ get: async (id) => (await sound.get(id))?.name as never }),
  },
  'create fails after a client has disconnected': {
    report:
      'create({ name: "next", categoryId: 3n }) threw Error: the connection is closed: create adds any valid animal',
    plant: (sound) => {
      let isBroken = false
      return {
        create(pet, options, context) {
          if (isBroken) throw new Error('the connection is closed')
          isBroken = context?.signal?.aborted ?? false
          return sound.create(pet, options)
        },
      }
    },
  },
  'create adds two animals for a client that has disconnected': {
    report: 'list returned 4 animals, but create was called only 3 times',
    plant: (sound) => ({
      create(pet, options, context) {
        if (context?.signal?.aborted) void sound.create(pet)
        return sound.create(pet, options)
      },
    }),
  },
  'list returns pages in reverse': {
    report: 'list({ limit: 10 }) returned animal 2 after animal 3: ids must ascend',
    plant: (sound) => ({ list: async (query) => [...(await sound.list(query))].reverse() }),
  },
  'list returns one animal too few': {
    report: 'list({ limit: 2 }) left out animal 2: a page is full unless no more animals match',
    plant: (sound) => ({
      list: (query) => sound.list({ ...query, limit: Math.max(1, query.limit - 1) }),
    }),
  },
  'list returns at most 100 animals': {
    report: 'list({ limit: 101 }) left out animal 101: a page is full unless no more animals match',
    plant: (sound) => ({
      list: (query) => sound.list({ ...query, limit: Math.min(100, query.limit) }),
    }),
  },
  'list includes the animal of `after`': {
    report: 'list({ after: 1n }) returned animal 1: after is exclusive',
    plant: (sound) => ({
      list: (query) => sound.list({ ...query, after: query.after === undefined ? undefined : query.after - 1n }),
    }),
  },
  'list ignores status': {
    report:
      'list({ status: "sold" }) returned animal 1 without a status: list returns only animals with the status of the query',
    plant: (sound) => ({ list: (query) => sound.list({ ...query, status: undefined }) }),
  },
  'create adds a status': {
    report: 'create returned an animal with status "available": leave out members that were not given',
    plant: (sound) => ({ create: (pet) => sound.create({ status: 'available', ...pet }) }),
  },
  'create rounds categoryId to a double': {
    report: 'create returned an animal with categoryId 9007199254740992n: expected 9007199254740993n',
    plant: (sound) => ({
      create: (pet) => sound.create({ ...pet, categoryId: BigInt.asIntN(64, BigInt(Number(pet.categoryId))) }),
    }),
  },
  'create normalizes names': {
    report: 'create returned an animal with name "Zo\\u{eb}": expected "Zoe\\u{308}"',
    plant: (sound) => ({ create: (pet) => sound.create({ ...pet, name: pet.name.normalize() }) }),
  },
  'create returns an id that is a number': {
    report: 'create returned the id 1, a number: an id is a bigint',
    plant: (sound) => ({
      create: async (pet) => ({ ...(await sound.create(pet)), id: 1 as unknown as bigint }),
    }),
  },
  'create gives descending ids': {
    report: 'create returned id 99 after id 100: ids must ascend',
    plant: () => listOf((pets) => BigInt(100 - pets.length)),
  },
  'create returns before the animal is stored': {
    report: 'get(1n) returned undefined: animal 1 was lost, although create had returned it',
    plant: (sound) => {
      const later = timer()
      return {
        create: (pet) => {
          void later.then(() => sound.create(pet))
          return { ...pet, id: 1n }
        },
      }
    },
  },
  'list ignores the limit': {
    report: 'list({ limit: 2 }) returned 3 animals: a page must not exceed its limit',
    plant: (sound) => ({ list: (query) => sound.list({ ...query, limit: 1_000 }) }),
  },
  'list returns an animal when a new storage is opened': {
    report: 'a new storage has animal 7: open() must return an empty one',
    plant: (sound) => ({
      list: (query) => (query.limit === 1 ? [{ id: 7n, name: 'Rex', categoryId: 1n }] : sound.list(query)),
    }),
  },
  'get throws if there is no animal': {
    report: 'get(2n) threw Error: no rows: for an unknown id, get must return undefined or null',
    plant: (sound) => ({
      get: async (id) => {
        const pet = await sound.get(id)
        if (!pet) throw new Error('no rows')
        return pet
      },
    }),
  },
  'get ignores the sign': {
    report: 'get(-1n) returned animal 1: for an unknown id, get must return undefined or null',
    plant: (sound) => ({ get: (id) => sound.get(id < 0n ? -id : id) }),
  },
  'concurrent calls of create get the same id': {
    report: 'create returned id 1 twice: each animal has an id of its own',
    plant: () => racing(async (pets) => (pets.at(-1)?.id ?? 0n) + 1n),
  },
  'animals become visible in another order than their ids': {
    report: 'list showed animal 2 before animal 1: ids must become visible in ascending order, or readers skip some',
    plant: () => {
      let last = 0n
      return racing(async () => ++last, 3)
    },
  },
  'create and list return the stored objects': {
    report: 'list({ limit: 9, status: "sold" }) returned animal 2 after animal 3: ids must ascend',
    plant: () => {
      const pets: Pet[] = []
      const create: PetStorage['create'] = (pet) => {
        const created = { ...pet, id: BigInt(pets.length + 1) }
        pets.push(created)
        return created
      }
      const list: PetStorage['list'] = (query) => {
        const page = pageOf(pets, query)
        return page.length === pets.length ? pets : page
      }
      return { create, list, get: (id) => pets.find((pet) => pet.id === id) }
    },
  },
  'create returns nothing': {
    report: 'create returned undefined: create must return the new animal',
    plant: () => ({ create: async () => undefined as never }),
  },
  'list returns null': {
    report: 'list({ limit: 1 }) returned null: list must return an array',
    plant: () => ({ list: async () => null as never }),
  },
}

/**
 * A storage that takes an id, waits, and only then adds the animal to its list. It waits for `waits` timers if the id is odd,
 * for one if it is even. The suite reads one page per timer, so it can see an even id before the smaller odd id.
 */
function racing(takeId: (pets: readonly Pet[]) => Promise<bigint>, waits = 1): PetStorage {
  const pets: Pet[] = []
  return {
    async create(pet) {
      const created = { ...pet, id: await takeId(pets) }
      for (let i = 0; i < (created.id % 2n === 0n ? 1 : waits); i++) await timer()
      pets.push(created)
      pets.sort((a, b) => (a.id < b.id ? -1 : 1))
      return created
    },
    list: async (query) => pageOf(pets, query),
    get: async (id) => pets.find((pet) => pet.id === id),
  }
}

/** A storage that keeps animals in an array. Their ids come from `takeId`, and are wrong. */
function listOf(takeId: (pets: readonly Pet[]) => bigint): PetStorage {
  const pets: Pet[] = []
  return {
    create(pet) {
      const created = { ...pet, id: takeId(pets) }
      pets.push(created)
      return created
    },
    list: ({ limit }) => pets.slice(0, limit),
    get: (id) => pets.find((pet) => pet.id === id),
  }
}

describe('the storage suite', () => {
  test.each(Object.entries(FAULTS))('reports the fault: %s', async (name, { plant, report }) => {
    const open = openFaulty((clock) => memory({ clock }).storage, plant)
    expectReport(await firstFailure((runner) => storageContract(runner, { name, open, runs: 10, seed: 1 })), report)
  })
})
