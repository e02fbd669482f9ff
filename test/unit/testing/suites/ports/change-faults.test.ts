import { describe, expect, test } from 'vitest'
import { type Clock, memory, type Pet, type PetStorage } from '../../../../../src/index.ts'
import { storageContract } from '../../../../../src/testing/index.ts'
import { close, expectFailure, firstFailure, openFaulty, type PlantedFaults, pageOf, timer } from './planted-faults.ts'

type Storage = Required<PetStorage>

const ALL = { limit: 10_000 }

const FAULTS: PlantedFaults<Storage> = {
  'update resets a member that is absent': {
    fails: 'update changes only the members that it gets',
    plant: (sound) => ({
      update: (id, changes, options) => sound.update(id, { status: 'available', ...changes }, options),
    }),
  },
  'update returns the animal as it was': {
    fails: 'update changes only the members that it gets',
    plant: (sound) => ({
      async update(...call) {
        const pet = await sound.get(call[0])
        const result = await sound.update(...call)
        return result && pet ? { ...result, pet } : result
      },
    }),
  },
  'update rounds categoryId to a double': {
    fails: 'update keeps each value of `name` and `categoryId`',
    plant: (sound) => ({
      update: (id, { categoryId, ...changes }, options) =>
        sound.update(
          id,
          {
            ...changes,
            ...(categoryId !== undefined && { categoryId: BigInt.asIntN(64, BigInt(Number(categoryId))) }),
          },
          options,
        ),
    }),
  },
  'a changed animal is still found under its old status': {
    fails: 'list finds a changed animal under its new status, and not under the old one',
    plant: (sound) => {
      const statuses = new Map<bigint, string>()
      return {
        async create(...call) {
          const created = await sound.create(...call)
          statuses.set(created.id, created.status)
          return created
        },
        async list({ status, ...query }) {
          const pets = await sound.list({ ...query, ...ALL })
          const found = pets.filter((pet) => !status || pet.status === status || statuses.get(pet.id) === status)
          return found.slice(0, query.limit)
        },
      }
    },
  },
  'update ignores its condition': {
    fails: 'update changes nothing if the animal does not have all values of `if`',
    plant: (sound) => ({ update: (id, changes) => sound.update(id, changes) }),
  },
  'update looks only at the status of its condition': {
    fails: 'update changes nothing if the animal does not have all values of `if`',
    plant: (sound) => ({
      update: (id, changes, options) => sound.update(id, changes, { if: { status: options?.if?.status } }),
    }),
  },
  'update throws if there is no animal': {
    fails: 'update returns undefined or null if there is no animal',
    plant: (sound) => ({
      async update(...call) {
        const result = await sound.update(...call)
        if (!result) throw new Error('no rows')
        return result
      },
    }),
  },
  'update checks its condition outside of the atomic step': {
    fails: 'only one of many updates at once with the same condition is applied',
    plant: (sound) => ({
      async update(id, changes, options) {
        const pet = await sound.get(id)
        await timer()
        const isMet = options?.if?.status === undefined || options.if.status === pet?.status
        return sound.update(id, changes, isMet ? { if: { ...options?.if, status: undefined } } : options)
      },
    }),
  },
  'update writes all members, as it has read them before': {
    fails: 'updates of different members at once change all of them',
    plant: (sound) => ({
      async update(id, changes, options) {
        const pet = await sound.get(id)
        await timer()
        const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined))
        return sound.update(id, { ...pet, ...given }, options)
      },
    }),
  },
  'a repeat of a key gets the animal as it is now': {
    fails: 'a repeat of an idempotency key gets the animal as it was added, after a change',
    plant: (sound) => repeats(sound, async (created) => ({ ...created, ...(await sound.get(created.id)) })),
  },
  'a repeat of a key is compared with the animal as it is now': {
    fails: 'a repeat of an idempotency key gets the animal as it was added, after a change',
    plant: (sound) =>
      repeats(sound, async (created) => {
        const pet = await sound.get(created.id)
        return { ...created, earlier: pet && pet.name !== created.name ? 'different' : created.earlier }
      }),
  },
  'remove leaves the animal on the pages of its status': {
    fails: 'remove removes an animal from get and from each page',
    plant: (sound) => {
      const removed: Pet[] = []
      return {
        async remove(...call) {
          const result = await sound.remove(...call)
          if (result?.applied) removed.push(result.pet)
          return result
        },
        async list(query) {
          const pets = await sound.list({ ...query, ...ALL })
          const all = query.status ? [...pets, ...removed] : pets
          return pageOf(sorted(all), query)
        },
      }
    },
  },
  'remove with a condition that is not met removes': {
    fails: 'remove removes nothing if the animal does not have all values of `if`',
    plant: (sound) => ({
      async remove(id, options) {
        const result = await sound.remove(id, options)
        if (result && !result.applied) await sound.remove(id)
        return result
      },
    }),
  },
  'remove returns that it has removed an animal that does not exist': {
    fails: 'remove removes an animal from get and from each page',
    plant: (sound) => {
      let last: Pet | undefined
      return {
        async remove(...call) {
          const result = await sound.remove(...call)
          last = result?.pet ?? last
          return result ?? (last && { applied: true, pet: last })
        },
      }
    },
  },
  'remove reads the animal before it removes it': {
    fails: 'only one of many removals at once is applied',
    plant: (sound) => ({
      async remove(id, options) {
        const pet = await sound.get(id)
        await timer()
        const result = await sound.remove(id, options)
        return pet && !result ? { applied: true, pet } : result
      },
    }),
  },
  'a page is one short if one of its animals was removed': {
    fails: 'pages stay full and in order after removals',
    plant: (sound) => withTombstones(sound, (removed, query, pets) => pageOf(sorted([...pets, ...removed]), query)),
  },
  'a page is empty if the animal of its cursor is gone': {
    fails: 'pages stay full and in order after removals',
    plant: (sound) =>
      withTombstones(sound, (removed, query, pets) =>
        removed.some(({ id }) => id === query.after) ? [] : pageOf(pets, query),
      ),
  },
  'the id of the newest animal is given again after its removal': {
    fails: 'create never gives the id of a removed animal again',
    plant: (_, clock) => forgettingIds(clock),
  },
  'a repeat of a key adds an animal again after its removal': {
    fails: 'a repeat of an idempotency key gets the animal as it was added, after its removal',
    plant: (sound) =>
      repeats(sound, async (created) => ((await sound.get(created.id)) ? created : sound.create(created))),
  },
  'a repeat of a key is reported as reused after the removal': {
    fails: 'a repeat of an idempotency key gets the animal as it was added, after its removal',
    plant: (sound) =>
      repeats(sound, async (created) => ({
        ...created,
        earlier: (await sound.get(created.id)) ? created.earlier : 'different',
      })),
  },
  'restore gives new ids': {
    fails: 'restore adds animals with their ids, in any order',
    plant: (sound) => ({
      async restore(pets) {
        for (const pet of pets) await sound.create(pet)
        return []
      },
    }),
  },
  'restore replaces an animal with the same id': {
    fails: 'restore leaves an animal whose id exists, and returns its id',
    plant: (sound) => ({
      async restore(pets) {
        const existing = await sound.restore(pets)
        for (const pet of pets) await sound.update(pet.id, pet)
        return existing
      },
    }),
  },
  'restore returns no existing ids': {
    fails: 'restore leaves an animal whose id exists, and returns its id',
    plant: (sound) => ({
      async restore(pets) {
        await sound.restore(pets)
        return []
      },
    }),
  },
  'create gives the id of a restored animal': {
    fails: 'create gives ids above all that were restored',
    plant: (sound) => {
      const restored: Pet[] = []
      const find = (id: bigint) => restored.find((pet) => pet.id === id)
      return {
        async restore(pets) {
          const existing: bigint[] = []
          for (const pet of pets)
            if (find(pet.id) || (await sound.get(pet.id))) existing.push(pet.id)
            else restored.push(pet)
          return existing
        },
        get: async (id) => (await sound.get(id)) ?? find(id),
        async list(query) {
          const pets = [...(await sound.list(ALL)), ...restored]
          return pageOf(sorted(pets), query)
        },
      }
    },
  },
  'remove checks its condition outside of the atomic step': {
    fails: 'an animal that is sold is not removed as available at the same time',
    plant: (sound) => ({
      async remove(id, options) {
        const pet = await sound.get(id)
        await timer()
        const isMet = options?.if?.status === undefined || options.if.status === pet?.status
        return sound.remove(id, isMet ? { if: { ...options?.if, status: undefined } } : options)
      },
    }),
  },
  'a used key is found by the id of its animal': {
    fails: 'an idempotency key is found by scope and key, not by the id',
    plant: (sound) => {
      const restored = new Set<bigint>()
      return {
        ...repeats(sound, async (created) => {
          const pet = restored.has(created.id) ? await sound.get(created.id) : undefined
          return { ...created, ...pet }
        }),
        restore(pets) {
          for (const { id } of pets) restored.add(id)
          return sound.restore(pets)
        },
      }
    },
  },
  'count counts removed animals too': {
    fails: 'count returns how many animals there are, or have a status',
    plant: (sound) => {
      let removed = 0
      return {
        async remove(...call) {
          const result = await sound.remove(...call)
          removed += result?.applied ? 1 : 0
          return result
        },
        count: async (status) => (await sound.count(status)) + removed,
      }
    },
  },
  'list finds its start first, and then reads by position': {
    fails: 'a reader skips and repeats no animal while others change',
    plant: (sound) => ({
      async list({ after = 0n, ...query }) {
        const before = await sound.list({ ...query, ...ALL })
        const start = before.filter(({ id }) => id <= after).length
        await timer()
        const pets = await sound.list({ ...query, ...ALL })
        return pets.slice(start, start + query.limit)
      },
    }),
  },
}

const sorted = (pets: readonly Pet[]) => pets.toSorted((one, other) => Number(one.id - other.id))

type Created = Awaited<ReturnType<PetStorage['create']>>

/** Returns a `create` that is faulty only for a repeated idempotency key. */
function repeats(sound: Storage, repeat: (created: Created) => Created | Promise<Created>): Partial<Storage> {
  return {
    async create(...call) {
      const created = await sound.create(...call)
      return created.earlier ? repeat(created) : created
    },
  }
}

/** Returns methods that remember removed animals. `read` gets them for a page, and they are left out of its result. */
function withTombstones(
  sound: Storage,
  read: (removed: readonly Pet[], query: Parameters<PetStorage['list']>[0], pets: readonly Pet[]) => Pet[],
): Partial<Storage> {
  const removed: Pet[] = []
  return {
    async remove(...call) {
      const result = await sound.remove(...call)
      if (result?.applied) removed.push(result.pet)
      return result
    },
    async list(query) {
      const page = read(removed, query, await sound.list({ ...query, ...ALL }))
      return page.filter((pet) => !removed.includes(pet))
    },
  }
}

/** A storage whose greatest id is that of the newest animal which it has. */
function forgettingIds(clock: Clock): Partial<Storage> {
  let current = memory({ clock }).storage as Storage
  return {
    create: (...call) => current.create(...call),
    get: (id) => current.get(id),
    list: (query) => current.list(query),
    update: (...call) => current.update(...call),
    async remove(...call) {
      const result = await current.remove(...call)
      current = memory({ clock, pets: await current.list(ALL) }).storage as Storage
      return result
    },
  }
}

describe('the storage suite, for changes and removals,', () => {
  test.each(Object.entries(FAULTS))('reports the fault: %s', async (name, { plant, fails }) => {
    const open = openFaulty((clock) => memory({ clock }).storage as Storage, plant)
    expectFailure(await firstFailure((runner) => storageContract(runner, { name, open, runs: 10, seed: 1 })), fails)
  })

  test.each([
    ['the ids of removed animals', 'create gives no removed id again when the storage is opened again'],
    ['changes', 'keeps changes when the storage is opened again'],
  ])('reports a storage that forgets %s when reopened', async (_, title) => {
    const open = async (clock?: Clock) => {
      const { storage } = memory({ clock })
      const reopen = async () => {
        const pets = await storage.list(ALL)
        return memory({ clock, pets: pets.map((pet) => ({ ...pet, status: 'available' as const })) }).storage
      }
      return { port: storage, close, reopen: () => reopen() }
    }
    const tests = new Map<string, () => Promise<void>>()
    const runner = {
      describe: (_: string, body: () => void) => body(),
      test: (name: string, body: () => Promise<void>) => void tests.set(name, body),
    }
    storageContract(runner, { name: 'ours', open })
    await expect(tests.get(title)?.()).rejects.toThrow(/whether the id|wrong ids|wrong result/)
  })
})
