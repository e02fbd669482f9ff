import { describe, test } from 'vitest'
import { memory, type Pet, type PetStorage } from '../../../../../src/index.ts'
import { storageContract } from '../../../../../src/testing/index.ts'
import { expectFailure, firstFailure, openFaulty, type PlantedFaults, pageOf, timer } from './planted-faults.ts'

const FAULTS: PlantedFaults<PetStorage> = {
  'create gives one id with and without an idempotency key': {
    fails: 'an animal with an idempotency key gets an id of its own',
    plant: (sound) => {
      const keyed = memory().storage
      return {
        create: (pet, options) => (options?.idempotency ? keyed.create(pet, options) : sound.create(pet)),
        get: async (id) => (await sound.get(id)) ?? keyed.get(id),
        list: async (query) => pageOf([...(await sound.list(query)), ...(await keyed.list(query))], query),
      }
    },
  },
  'list with a filter leaves out an animal that has an idempotency key': {
    fails: 'create adds one animal for each idempotency key',
    plant: (sound) => {
      const keyed = new Set<bigint>()
      return {
        create: async (pet, options) => {
          const created = await sound.create(pet, options)
          if (options?.idempotency) keyed.add(created.id)
          return created
        },
        list: async (query) => {
          const page = await sound.list(query)
          return query.status === undefined ? page : page.filter(({ id }) => !keyed.has(id))
        },
      }
    },
  },
  'create gives an id again after the storage was empty for a while': {
    fails: 'create gives each animal a greater id',
    plant: () => listOf((pets) => BigInt(1 + (pets.length % 2))),
  },
  'get finds an id by its lowest 32 bits': {
    fails: 'get returns undefined or null if there is no animal',
    plant: (sound) => ({ get: (id) => sound.get(BigInt.asIntN(32, id)) }),
  },
  'list returns an animal twice': {
    fails: 'create has stored the animal when it returns',
    plant: (sound) => ({
      list: async (query) => {
        const page = await sound.list(query)
        return page.length < query.limit ? page.flatMap((pet) => [pet, pet]) : page
      },
    }),
  },
  'list returns animals that nobody has added': {
    fails: 'create has stored the animal when it returns',
    plant: (sound) => ({
      list: async (query) => {
        const page = await sound.list(query)
        return query.limit > Math.max(1, page.length)
          ? [...page, { id: 999n, name: 'Rex', categoryId: 1n, status: 'available' }]
          : page
      },
    }),
  },
  'list leaves out the first animal': {
    fails: 'list returns at most `limit` animals',
    plant: (sound) => ({
      list: async (query) =>
        (await sound.list({ ...query, limit: query.limit + 1 })).slice(query.limit > 1 ? -query.limit : 0),
    }),
  },
  'list returns ids below `after`': {
    fails: 'list returns only ids above `after`',
    plant: (sound) => ({
      list: async (query) =>
        (await sound.list({ ...query, limit: 1_000, after: undefined }))
          .filter(({ id }) => id !== query.after)
          .slice(0, query.limit),
    }),
  },
  'list ends early for a status': {
    fails: 'pages stay full and in order after removals',
    plant: (sound) => ({
      list: (query) =>
        query.status === 'sold' && query.limit === 1 && (query.after ?? 0n) > 2n ? [] : sound.list(query),
    }),
  },
  'create gives an id above int64': {
    fails: 'create has stored the animal when it returns',
    plant: () => listOf(() => 2n ** 63n),
  },
  'get returns the previous animal': {
    fails: 'keeps each int64 value of `categoryId`',
    plant: (sound) => ({ get: (id) => sound.get(id === 4n ? 3n : id) }),
  },
  'get returns a name': {
    fails: 'create has stored the animal when it returns',
    plant: (sound) => ({ get: async (id) => (await sound.get(id))?.name as never }),
  },
  'create fails after a client has disconnected': {
    fails: 'keeps working after a client has disconnected',
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
    fails: 'keeps working after a client has disconnected',
    plant: (sound) => ({
      create(pet, options, context) {
        if (context?.signal?.aborted) void sound.create(pet)
        return sound.create(pet, options)
      },
    }),
  },
  'list returns pages in reverse': {
    fails: 'list returns animals by ascending id',
    plant: (sound) => ({ list: async (query) => [...(await sound.list(query))].reverse() }),
  },
  'list returns one animal too few': {
    fails: 'list returns at most `limit` animals',
    plant: (sound) => ({
      list: (query) => sound.list({ ...query, limit: Math.max(1, query.limit - 1) }),
    }),
  },
  'list returns at most 100 animals': {
    fails: 'list returns full pages of any size',
    plant: (sound) => ({
      list: (query) => sound.list({ ...query, limit: Math.min(100, query.limit) }),
    }),
  },
  'list includes the animal of `after`': {
    fails: 'list returns only ids above `after`',
    plant: (sound) => ({
      list: (query) => sound.list({ ...query, after: query.after === undefined ? undefined : query.after - 1n }),
    }),
  },
  'list ignores status': {
    fails: 'list returns only animals with the `status` of the query',
    plant: (sound) => ({ list: (query) => sound.list({ ...query, status: undefined }) }),
  },
  'create rounds categoryId to a double': {
    fails: 'keeps each int64 value of `categoryId`',
    plant: (sound) => ({
      create: (pet) => sound.create({ ...pet, categoryId: BigInt.asIntN(64, BigInt(Number(pet.categoryId))) }),
    }),
  },
  'create normalizes names': {
    fails: 'keeps each character of `name`',
    plant: (sound) => ({ create: (pet) => sound.create({ ...pet, name: pet.name.normalize() }) }),
  },
  'create returns an id that is a number': {
    fails: 'create has stored the animal when it returns',
    plant: (sound) => ({
      create: async (pet) => ({ ...(await sound.create(pet)), id: 1 as unknown as bigint }),
    }),
  },
  'create gives descending ids': {
    fails: 'create gives each animal a greater id',
    plant: () => listOf((pets) => BigInt(100 - pets.length)),
  },
  'create returns before the animal is stored': {
    fails: 'create has stored the animal when it returns',
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
    fails: 'list returns at most `limit` animals',
    plant: (sound) => ({ list: (query) => sound.list({ ...query, limit: 1_000 }) }),
  },
  'list returns an animal when a new storage is opened': {
    fails: 'create has stored the animal when it returns',
    plant: (sound) => ({
      list: (query) =>
        query.limit === 1 ? [{ id: 7n, name: 'Rex', categoryId: 1n, status: 'sold' }] : sound.list(query),
    }),
  },
  'get throws if there is no animal': {
    fails: 'get returns undefined or null if there is no animal',
    plant: (sound) => ({
      get: async (id) => {
        const pet = await sound.get(id)
        if (!pet) throw new Error('no rows')
        return pet
      },
    }),
  },
  'get ignores the sign': {
    fails: 'get returns undefined or null if there is no animal',
    plant: (sound) => ({ get: (id) => sound.get(id < 0n ? -id : id) }),
  },
  'concurrent calls of create get the same id': {
    fails: 'animals that are added at once have different ids',
    plant: () => racing(async (pets) => (pets.at(-1)?.id ?? 0n) + 1n),
  },
  'create and list return the stored objects': {
    fails: 'a change to a returned array does not change the storage',
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
    fails: 'create has stored the animal when it returns',
    plant: () => ({ create: async () => undefined as never }),
  },
  'list returns null': {
    fails: 'create has stored the animal when it returns',
    plant: () => ({ list: async () => null as never }),
  },
}

/** A storage that takes an id, waits, and only then adds the animal to its list. */
function racing(takeId: (pets: readonly Pet[]) => Promise<bigint>): PetStorage {
  const pets: Pet[] = []
  return {
    async create(pet) {
      const created = { ...pet, id: await takeId(pets) }
      await timer()
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
  test.each(Object.entries(FAULTS))('reports the fault: %s', async (name, { plant, fails }) => {
    const open = openFaulty((clock) => memory({ clock }).storage, plant)
    expectFailure(await firstFailure((runner) => storageContract(runner, { name, open, runs: 10, seed: 1 })), fails)
  })
})
