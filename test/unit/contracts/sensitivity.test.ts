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

/** A suite that no broken port fails proves nothing: each of these ports has one fault, and its suite must find it. */

const close = async () => {}
const tick = () => new Promise<void>((resolve) => setTimeout(resolve, 0))

/** Runs a suite as a runner would, and keeps why tests failed. */
async function failures(suite: (runner: TestRunner) => void): Promise<unknown[]> {
  const bodies: (() => Promise<void>)[] = []
  suite({ describe: (_name, body) => body(), test: (_name, body) => bodies.push(body) })
  const failed: unknown[] = []
  for (const body of bodies) await body().catch((error) => failed.push(error))
  return failed
}

type Faults<Port> = Record<string, (sound: Port) => Partial<Port>>

const storageFaults: Faults<PetStorage> = {
  'pages in reverse': (sound) => ({ list: async (query) => [...(await sound.list(query))].reverse() }),
  'one too few': (sound) => ({ list: (query) => sound.list({ ...query, limit: Math.max(1, query.limit - 1) }) }),
  'one too many': (sound) => ({ list: (query) => sound.list({ ...query, limit: query.limit + 1 }) }),
  'at most 100': (sound) => ({ list: (query) => sound.list({ ...query, limit: Math.min(100, query.limit) }) }),
  '`after` takes part': (sound) => ({
    list: (query) => sound.list({ ...query, after: query.after === undefined ? undefined : query.after - 1n }),
  }),
  '`after` 0 taken for none given': (sound) => ({
    list: (query) => (query.after !== undefined && query.after < 0n ? [] : sound.list(query)),
  }),
  'status is ignored': (sound) => ({ list: (query) => sound.list({ ...query, status: undefined }) }),
  'status is filtered after the limit': (sound) => ({
    list: async ({ status, ...query }) =>
      (await sound.list(query)).filter((pet) => status === undefined || pet.status === status),
  }),
  'a default status': (sound) => ({ create: (pet) => sound.create({ status: 'available', ...pet }) }),
  'categoryId through a double': (sound) => ({
    create: (pet) => sound.create({ ...pet, categoryId: BigInt.asIntN(64, BigInt(Number(pet.categoryId))) }),
  }),
  'categoryId in 32 bits': (sound) => ({
    create: (pet) => sound.create({ ...pet, categoryId: BigInt.asIntN(32, pet.categoryId) }),
  }),
  'names are normalised': (sound) => ({ create: (pet) => sound.create({ ...pet, name: pet.name.normalize() }) }),
  'names are trimmed': (sound) => ({ create: (pet) => sound.create({ ...pet, name: pet.name.trim() }) }),
  'names are cut short': (sound) => ({ create: (pet) => sound.create({ ...pet, name: pet.name.slice(0, 255) }) }),
  'an id that is a number': (sound) => ({
    create: async (pet) => ({ ...(await sound.create(pet)), id: 1 as unknown as bigint }),
  }),
  'an animal is lost now and then': (sound) => {
    let count = 0
    return { create: (pet) => (++count % 20 === 0 ? { ...pet, id: BigInt(1e9 + count) } : sound.create(pet)) }
  },
  'get reads its id in 32 bits': (sound) => ({ get: (id) => sound.get(BigInt.asIntN(32, id)) }),
  'get ignores the sign': (sound) => ({ get: (id) => sound.get(id < 0n ? -id : id) }),
  'two at once get one id': () => racing(async (pets) => (pets.at(-1)?.id ?? 0n) + 1n),
  'ids are taken in another order than they are shown': () => {
    let last = 0n
    return racing(async () => ++last, 3)
  },
  'what it has given back is what it keeps': () => {
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

/** A storage that takes an id, waits, and only then shows the animal. */
function racing(takeId: (pets: readonly Pet[]) => Promise<bigint>, waits = 1): PetStorage {
  const pets: Pet[] = []
  return {
    async create(pet) {
      const created = { ...pet, id: await takeId(pets) }
      for (let i = 0; i < (created.id % 2n === 0n ? 1 : waits); i++) await tick()
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
  'revoke is always content': (sound) => ({ revoke: async (id) => (await sound.revoke(id)) || true }),
  'the newest first': (sound) => ({ list: async () => [...(await sound.list())].reverse() }),
  'revoked keys are not listed': (sound) => ({
    list: async () => (await sound.list()).filter(({ revokedAt }) => revokedAt === undefined),
  }),
  'the time of the revocation is lost': (sound) => ({
    list: async () => (await sound.list()).map(({ revokedAt: _, ...key }) => key),
  }),
  'a token is listed': (sound) => {
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
  'tokens without regard to what follows them': (sound) => ({ find: (token) => sound.find(token.slice(0, 53)) }),
  'expiry is lost': (sound) => ({
    find: async (token) => {
      const { expiresAt: _, ...key } = (await sound.find(token)) ?? ({} as ApiKey)
      return key.id === undefined ? undefined : key
    },
  }),
  'an empty label is lost': (sound) => ({
    list: async () => (await sound.list()).map(({ label, ...key }) => (label ? { ...key, label } : key)),
  }),
  'limits through 32 bits': (sound) => ({
    find: async (token) => {
      const key = await sound.find(token)
      return key?.limits && { ...key, limits: { ...key.limits, perDay: key.limits.perDay | 0 } }
    },
  }),
  'anything is issued': (sound) => ({
    issue: (options) =>
      sound.issue(Object.assign({ plan: 'free' }, options)).catch(() => sound.issue({ plan: 'free' })),
  }),
  'two at once both revoke': (sound) => {
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

/** Quota stores that count each request by a law that is bent in one place. */
function counting(bend: (request: QuotaRequest) => QuotaRequest): QuotaStore {
  const states = new Map<string, ReturnType<typeof newQuotaState>>()
  return {
    spend(request) {
      const bent = bend(request)
      const state = states.get(bent.subject) ?? newQuotaState()
      states.set(bent.subject, state)
      return countRequest(state, bent)
    },
  }
}

const more = (limit: number) => Math.min(limit + 1, Number.MAX_SAFE_INTEGER)

const quotaFaults: Faults<QuotaStore> = {
  'one too many in a minute': () =>
    counting((request) => ({ ...request, limits: { ...request.limits, perMinute: more(request.limits.perMinute) } })),
  'one too many on a day': () =>
    counting((request) => ({ ...request, limits: { ...request.limits, perDay: more(request.limits.perDay) } })),
  'no bans': () => counting((request) => ({ ...request, ban: false })),
  'bans a refusal too late': () =>
    counting(({ ban, ...request }) => ({ ...request, ban: ban && { ...ban, afterRefusals: ban.afterRefusals + 1 } })),
  'subjects without regard to case': () =>
    counting((request) => ({ ...request, subject: request.subject.toLowerCase() })),
  'strangers share one count': () =>
    counting((request) => (request.anonymous ? { ...request, subject: 'strangers' } : request)),
  'a clock that only goes forward': () => {
    let latest = 0
    return counting((request) => {
      latest = Math.max(latest, request.now)
      return { ...request, now: latest }
    })
  },
  'whole seconds': () => counting((request) => ({ ...request, now: Math.floor(request.now / 1000) * 1000 })),
  'a clock that steps back frees': () => {
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
  'refused requests are counted': () => {
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
  'reads and writes apart': () => {
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

describe('the suites find', () => {
  beforeAll(() => fc.configureGlobal({ endOnFailure: true }))
  afterAll(() => fc.resetConfigureGlobal())

  test.each(Object.entries(storageFaults))('in a storage: %s', async (name, fault) => {
    const open = () => faulty(memory().storage, fault)()
    expect(await failures((runner) => storageContract(runner, { name, open }))).not.toEqual([])
  })

  const noAnswers: [string, Partial<PetStorage>, string][] = [
    [
      'create that answers with nothing',
      { create: async () => undefined as never },
      'create: expected an animal, got nothing',
    ],
    ['list that answers with null', { list: async () => null as never }, ': expected an array, got null'],
    [
      'list that answers with what holds the rows',
      { list: () => ({ rows: [] }) as never },
      ': expected an array, got an object',
    ],
  ]
  test.each(noAnswers)('in a storage, and every test says so: a %s', async (name, fault, message) => {
    const open = faulty(memory().storage, () => fault)
    const failed = await failures((runner) => storageContract(runner, { name, open }))
    expect(failed).toHaveLength(5)
    for (const error of failed) expect(inspect(error)).toContain(message)
  })

  test.each(Object.entries(keyFaults))('in a key store: %s', async (name, fault) => {
    const open = (clock: Clock) => faulty(memory({ clock }).keyStore, fault)()
    expect(await failures((runner) => keyStoreContract(runner, { name, open }))).not.toEqual([])
  })

  test.each(Object.entries(quotaFaults))('in a quota store: %s', async (name, fault) => {
    const open = (clock: Clock) => faulty(memory({ clock }).quota, fault)()
    expect(await failures((runner) => quotaContract(runner, { name, open }))).not.toEqual([])
  })
})
