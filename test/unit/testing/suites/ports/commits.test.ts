import { expect, test } from 'vitest'
import { type Clock, memory, type Pet, type PetStorage } from '../../../../../src/index.ts'
import { storageContract } from '../../../../../src/testing/index.ts'
import { expectFailure, firstFailure, pageOf, timer } from './planted-faults.ts'

const close = async () => {}

/** A storage that gives an id at the insert, and shows the animal at its commit, which is `turns` timers later. */
function autoIncrement(turns: () => number): PetStorage {
  const pets: Pet[] = []
  let last = 0n
  return {
    async create(pet) {
      last += 1n
      const created = { ...pet, id: last }
      for (let i = turns(); i > 0; i--) await timer()
      pets.push(created)
      pets.sort((a, b) => (a.id < b.id ? -1 : 1))
      return created
    },
    list: async (query) => pageOf(pets, query),
    get: async (id) => pets.find((pet) => pet.id === id),
  }
}

test('the storage suite finds ids that are given before the commit, in each of 20 runs', async () => {
  for (let seed = 1; seed <= 20; seed++) {
    let state = seed
    // Pseudo-random numbers: each seed has an order of commits of its own.
    const turns = () => {
      state = (state * 48_271) % 2_147_483_647
      return 1 + (state % 2)
    }
    const open = async () => ({ port: autoIncrement(turns), close })
    const bodies = new Map<string, () => Promise<void>>()
    const runner = {
      describe: (_name: string, body: () => void) => body(),
      test: (title: string, body: () => Promise<void>) => void bodies.set(title, body),
    }
    storageContract(runner, { name: 'ours', open, seed })
    const burst = bodies.get('a reader skips no animal while many are added at once')
    await expect(burst?.()).rejects.toThrow('ids must become visible in ascending order')
  }
})

test('the storage suite finds an engine time in seconds', async () => {
  const engineTime = 1_767_225_600_000
  const open = async (clock?: Clock) => {
    const { storage } = memory({ clock: clock ?? { now: () => engineTime } })
    const usedAt = new Map<string, number>()
    const create: PetStorage['create'] = (pet, { idempotency } = {}) => {
      if (idempotency === undefined) return storage.create(pet)
      const known = usedAt.get(idempotency.key)
      usedAt.set(idempotency.key, engineTime / 1_000)
      const isExpired = known !== undefined && engineTime - known > 172_800_000
      const again = isExpired ? { ...idempotency, key: `${idempotency.key} again` } : idempotency
      return storage.create(pet, { idempotency: again })
    }
    return { port: clock ? storage : { ...storage, create }, close }
  }
  expectFailure(
    await firstFailure((runner) => storageContract(runner, { name: 'ours', open, runs: 3 })),
    'keeps idempotency keys by the time of the engine too',
  )
})
