import { describe, test } from 'vitest'
import {
  type CreatedPet,
  type Idempotency,
  memory,
  type PetMembers,
  type PetStorage,
} from '../../../../../src/index.ts'
import { storageContract } from '../../../../../src/testing/index.ts'
import { expectFailure, firstFailure, openFaulty, type PlantedFaults, timer } from './planted-faults.ts'

const FAULTS: PlantedFaults<PetStorage> = {
  'create reports another animal for an equal fingerprint': {
    fails: 'create adds one animal for each idempotency key',
    plant: (sound) =>
      forKeys(sound, async (pet, idempotency) => {
        const created = await sound.create(pet, { idempotency })
        return created.earlier ? { ...created, earlier: 'different' } : created
      }),
  },
  'create with a key returns nothing': {
    fails: 'create adds one animal for each idempotency key',
    plant: (sound) => forKeys(sound, async () => undefined as never),
  },
  'create ignores idempotency keys': {
    fails: 'create adds one animal for each idempotency key',
    plant: (sound) => ({ create: (pet) => sound.create(pet) }),
  },
  'create looks for the idempotency key before it adds': {
    fails: 'concurrent repeats of an idempotency key add one animal',
    plant: (sound) => {
      const used = new Map<string, bigint>()
      return forKeys(sound, async (pet, { key }) => {
        const id = used.get(key)
        await timer()
        if (id !== undefined) return { ...pet, id, earlier: 'same' }
        const created = await sound.create(pet)
        used.set(key, created.id)
        return created
      })
    },
  },
  'create ignores the fingerprint': {
    fails: 'create reports an idempotency key that was used for another animal',
    plant: (sound) =>
      forKeys(sound, async (pet, idempotency) => {
        const created = await sound.create(pet, { idempotency })
        return created.earlier ? { ...created, earlier: 'same' } : created
      }),
  },
  'all scopes share their idempotency keys': {
    fails: 'each scope has idempotency keys of its own',
    plant: (sound) => withKey(sound, () => ({ scope: '' })),
  },
  'create shortens idempotency keys': {
    fails: 'idempotency keys that differ in one character add separate animals',
    plant: (sound) => withKey(sound, ({ key }) => ({ key: key.slice(0, 254) })),
  },
  'idempotency keys never expire': {
    fails: 'an idempotency key expires after 48 hours',
    plant: () => memory({ clock: { now: () => 0 } }).storage,
  },
  'idempotency keys end too soon': {
    fails: 'an idempotency key expires after 48 hours',
    plant: (_, clock) => memory({ clock: { now: () => 2 * clock.now() } }).storage,
  },
  'create returns a new id for a repeat': {
    fails: 'create adds one animal for each idempotency key',
    plant: (sound) =>
      forKeys(sound, async (pet, idempotency) => {
        const created = await sound.create(pet, { idempotency })
        return created.earlier ? { ...created, id: created.id + 1n } : created
      }),
  },
}

type CreateWithKey = (pet: PetMembers, idempotency: Idempotency) => Promise<CreatedPet>

/** Returns a `create` that is faulty only if it gets an idempotency key. */
function forKeys(sound: PetStorage, createWithKey: CreateWithKey): Partial<PetStorage> {
  return {
    create: (pet, { idempotency } = {}) =>
      idempotency === undefined ? sound.create(pet) : createWithKey(pet, idempotency),
  }
}

/** Returns a `create` that changes the scope, key or fingerprint, and then calls `sound.create`, which is correct. */
function withKey(sound: PetStorage, change: (given: Idempotency) => Partial<Idempotency>): Partial<PetStorage> {
  return forKeys(sound, async (pet, given) => sound.create(pet, { idempotency: { ...given, ...change(given) } }))
}

describe('the storage suite, for idempotency keys,', () => {
  test.each(Object.entries(FAULTS))('reports the fault: %s', async (name, { plant, fails }) => {
    const open = openFaulty((clock) => memory({ clock }).storage, plant)
    expectFailure(await firstFailure((runner) => storageContract(runner, { name, open, runs: 10, seed: 1 })), fails)
  })
})
