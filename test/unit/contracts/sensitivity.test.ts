import { inspect } from 'node:util'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type ApiKey,
  type Clock,
  countRequest,
  type ManagedKeyStore,
  memory,
  newQuotaState,
  type Pet,
  type PetStorage,
  type QuotaRequest,
  type QuotaStore,
} from '../../../src/index.ts'
import { keyStoreContract, quotaContract, storageContract, type TestRunner } from '../../../src/testing/index.ts'

/** Tests the contract suites: each storage, key store and quota store in this file has one fault that its suite must find. */

const close = async () => {}
const timer = () => new Promise<void>((resolve) => setTimeout(resolve, 0))
const tick = () => new Promise<void>((resolve) => setImmediate(resolve))

/** Runs the tests of a suite, and returns the errors of the tests that fail. */
async function failures(suite: (runner: TestRunner) => void): Promise<unknown[]> {
  const bodies: (() => Promise<void>)[] = []
  suite({ describe: (_name, body) => body(), test: (_name, body) => bodies.push(body) })
  const failed: unknown[] = []
  for (const body of bodies) await body().catch((error) => failed.push(error))
  return failed
}

type Faults<Port> = Record<string, (sound: Port) => Partial<Port>>

const storageFaults: Faults<PetStorage> = {
  'list returns pages in reverse': (sound) => ({ list: async (query) => [...(await sound.list(query))].reverse() }),
  'list returns one animal too few': (sound) => ({
    list: (query) => sound.list({ ...query, limit: Math.max(1, query.limit - 1) }),
  }),
  'list returns one animal too many': (sound) => ({
    list: (query) => sound.list({ ...query, limit: query.limit + 1 }),
  }),
  'list returns at most 100 animals': (sound) => ({
    list: (query) => sound.list({ ...query, limit: Math.min(100, query.limit) }),
  }),
  'list includes the animal of `after`': (sound) => ({
    list: (query) => sound.list({ ...query, after: query.after === undefined ? undefined : query.after - 1n }),
  }),
  'list returns nothing for a negative `after`': (sound) => ({
    list: (query) => (query.after !== undefined && query.after < 0n ? [] : sound.list(query)),
  }),
  'list ignores status': (sound) => ({ list: (query) => sound.list({ ...query, status: undefined }) }),
  'list filters by status after the limit': (sound) => ({
    list: async ({ status, ...query }) =>
      (await sound.list(query)).filter((pet) => status === undefined || pet.status === status),
  }),
  'create adds a status': (sound) => ({ create: (pet) => sound.create({ status: 'available', ...pet }) }),
  'create rounds categoryId to a double': (sound) => ({
    create: (pet) => sound.create({ ...pet, categoryId: BigInt.asIntN(64, BigInt(Number(pet.categoryId))) }),
  }),
  'create keeps 32 bits of categoryId': (sound) => ({
    create: (pet) => sound.create({ ...pet, categoryId: BigInt.asIntN(32, pet.categoryId) }),
  }),
  'create normalizes names': (sound) => ({ create: (pet) => sound.create({ ...pet, name: pet.name.normalize() }) }),
  'create trims names': (sound) => ({ create: (pet) => sound.create({ ...pet, name: pet.name.trim() }) }),
  'create shortens names': (sound) => ({ create: (pet) => sound.create({ ...pet, name: pet.name.slice(0, 255) }) }),
  'create returns an id that is a number': (sound) => ({
    create: async (pet) => ({ ...(await sound.create(pet)), id: 1 as unknown as bigint }),
  }),
  'create loses every 20th animal': (sound) => {
    let count = 0
    return { create: (pet) => (++count % 20 === 0 ? { ...pet, id: BigInt(1e9 + count) } : sound.create(pet)) }
  },
  'get keeps 32 bits of its id': (sound) => ({ get: (id) => sound.get(BigInt.asIntN(32, id)) }),
  'get ignores the sign': (sound) => ({ get: (id) => sound.get(id < 0n ? -id : id) }),
  'concurrent calls of create get the same id': () => racing(async (pets) => (pets.at(-1)?.id ?? 0n) + 1n),
  'animals become visible in another order than their ids': () => {
    let last = 0n
    return racing(async () => ++last, 3)
  },
  'create and list return the stored objects': () => {
    const pets: Pet[] = []
    const create: PetStorage['create'] = (pet) => {
      const created = { ...pet, id: BigInt(pets.length + 1) }
      pets.push(created)
      return created
    }
    const list: PetStorage['list'] = ({ limit, after = 0n, status }) => {
      const found = pets.filter(({ id, ...pet }) => id > after && (status === undefined || pet.status === status))
      return found.length === pets.length && limit >= pets.length ? pets : found.slice(0, limit)
    }
    return { create, list, get: (id) => pets.find((pet) => pet.id === id) }
  },
}

/**
 * A storage that takes an id, waits, and only then lists the animal. Odd ids wait longer. The suite's reader waits for one
 * timer between two pages, so it can see an even id before the smaller odd id.
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
    list: async ({ limit, after, status }) =>
      pets
        .filter((pet) => (after === undefined || pet.id > after) && (!status || pet.status === status))
        .slice(0, limit),
    get: async (id) => pets.find((pet) => pet.id === id),
  }
}

const keyFaults: Faults<ManagedKeyStore> = {
  'revoke does nothing': () => ({ revoke: async () => true }),
  'revoke always returns true': (sound) => ({ revoke: async (id) => (await sound.revoke(id)) || true }),
  'list returns the newest key first': (sound) => ({ list: async () => [...(await sound.list())].reverse() }),
  'list omits revoked keys': (sound) => ({
    list: async () => (await sound.list()).filter(({ revokedAt }) => revokedAt === undefined),
  }),
  'list omits revokedAt': (sound) => ({
    list: async () => (await sound.list()).map(({ revokedAt: _, ...key }) => key),
  }),
  'list contains a token': (sound) => {
    let last = ''
    return {
      issue: async (options) => {
        const issued = await sound.issue(options)
        last = issued.token
        return issued
      },
      list: async () => (await sound.list()).map((key) => ({ ...key, token: last })),
    }
  },
  'find ignores characters after the token': (sound) => ({ find: (token) => sound.find(token.slice(0, 53)) }),
  'find omits expiresAt': (sound) => ({
    find: async (token) => {
      const { expiresAt: _, ...key } = (await sound.find(token)) ?? ({} as ApiKey)
      return key.id === undefined ? undefined : key
    },
  }),
  'list omits an empty label': (sound) => ({
    list: async () => (await sound.list()).map(({ label, ...key }) => (label ? { ...key, label } : key)),
  }),
  'find keeps 32 bits of a limit': (sound) => ({
    find: async (token) => {
      const key = await sound.find(token)
      return key?.limits && { ...key, limits: { ...key.limits, perDay: key.limits.perDay | 0 } }
    },
  }),
  'issue accepts wrong options': (sound) => ({
    issue: (options) =>
      sound.issue(Object.assign({ plan: 'free' }, options)).catch(() => sound.issue({ plan: 'free' })),
  }),
  'two concurrent calls of revoke both return true': (sound) => {
    const revoked = new Set<string>()
    return {
      revoke: async (id) => {
        const isFirst = !revoked.has(id) && (await sound.list()).some((key) => key.id === id)
        await tick()
        revoked.add(id)
        await sound.revoke(id)
        return isFirst
      },
    }
  },
}

/** A quota store that changes each request before it counts it. */
function counting(change: (request: QuotaRequest) => QuotaRequest): QuotaStore {
  const states = new Map<string, ReturnType<typeof newQuotaState>>()
  return {
    spend(request) {
      const changed = change(request)
      const state = states.get(changed.subject) ?? newQuotaState()
      states.set(changed.subject, state)
      return countRequest(state, changed)
    },
  }
}

const more = (limit: number) => Math.min(limit + 1, Number.MAX_SAFE_INTEGER)

const quotaFaults: Faults<QuotaStore> = {
  'one request too many per minute': () =>
    counting((request) => ({ ...request, limits: { ...request.limits, perMinute: more(request.limits.perMinute) } })),
  'one request too many per day': () =>
    counting((request) => ({ ...request, limits: { ...request.limits, perDay: more(request.limits.perDay) } })),
  'no ban': () => counting((request) => ({ ...request, ban: false })),
  'a ban one refusal too late': () =>
    counting(({ ban, ...request }) => ({ ...request, ban: ban && { ...ban, afterRefusals: ban.afterRefusals + 1 } })),
  'subjects that ignore case': () => counting((request) => ({ ...request, subject: request.subject.toLowerCase() })),
  'one count for all anonymous clients': () =>
    counting((request) => (request.anonymous ? { ...request, subject: 'anonymous' } : request)),
  'a clock that never goes back': () => {
    let latest = 0
    return counting((request) => {
      latest = Math.max(latest, request.now)
      return { ...request, now: latest }
    })
  },
  'times rounded to seconds': () => counting((request) => ({ ...request, now: Math.floor(request.now / 1000) * 1000 })),
  'counts that restart when the clock steps back': () => {
    let store = counting((request) => request)
    let latest = 0
    return {
      spend(request) {
        if (request.now < latest) store = counting((request) => request)
        latest = request.now
        return store.spend(request)
      },
    }
  },
  'refused requests that are counted': () => {
    const states = new Map<string, ReturnType<typeof newQuotaState>>()
    return {
      spend(request) {
        const state = states.get(request.subject) ?? newQuotaState()
        states.set(request.subject, state)
        const count = countRequest(state, request)
        if (!count.granted) state.usedInDay++
        return count
      },
    }
  },
  'a read and a write that are not atomic': () => {
    const states = new Map<string, ReturnType<typeof newQuotaState>>()
    return {
      async spend(request) {
        const state = { ...(states.get(request.subject) ?? newQuotaState()) }
        await tick()
        const count = countRequest(state, request)
        states.set(request.subject, state)
        return count
      },
    }
  },
}

function faulty<Port extends object>(sound: Port, fault: (sound: Port) => Partial<Port>) {
  return async () => ({ port: { ...sound, ...fault(sound) }, close })
}

describe('the contract suites detect a fault', () => {
  beforeAll(() => fc.configureGlobal({ endOnFailure: true }))
  afterAll(() => fc.resetConfigureGlobal())

  test.each(Object.entries(storageFaults))('the storage suite detects a fault: %s', async (name, fault) => {
    const open = () => faulty(memory().storage, fault)()
    expect(await failures((runner) => storageContract(runner, { name, open }))).not.toEqual([])
  })

  const wrongResults: [string, Partial<PetStorage>, string][] = [
    ['create returns nothing', { create: async () => undefined as never }, 'create: expected an animal, got nothing'],
    ['list returns null', { list: async () => null as never }, ': expected an array, got null'],
    ['list returns an object with rows', { list: () => ({ rows: [] }) as never }, ': expected an array, got an object'],
  ]
  test.each(wrongResults)('every test of the suite detects a storage fault: %s', async (name, fault, message) => {
    const open = faulty(memory().storage, () => fault)
    const failed = await failures((runner) => storageContract(runner, { name, open }))
    expect(failed).toHaveLength(5)
    for (const error of failed) expect(inspect(error)).toContain(message)
  })

  test.each(Object.entries(keyFaults))('the key store suite detects a fault: %s', async (name, fault) => {
    const open = (clock: Clock) => faulty(memory({ clock }).keyStore, fault)()
    expect(await failures((runner) => keyStoreContract(runner, { name, open }))).not.toEqual([])
  })

  test.each(Object.entries(quotaFaults))('the quota suite detects a fault: %s', async (name, fault) => {
    const open = (clock: Clock) => faulty(memory({ clock }).quota, fault)()
    expect(await failures((runner) => quotaContract(runner, { name, open }))).not.toEqual([])
  })
})
