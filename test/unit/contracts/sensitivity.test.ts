import { describe, expect, test } from 'vitest'
import { countRequest, hashToken, newQuotaState } from '../../../src/back-end.ts'
import {
  type ApiKey,
  type Clock,
  type CreatedPet,
  type Idempotency,
  type ManagedKeyStore,
  memory,
  type Pet,
  type PetStorage,
  type QuotaCount,
  type QuotaRequest,
  type QuotaStore,
} from '../../../src/index.ts'
import {
  keyStoreContract,
  manualClock,
  quotaContract,
  storageContract,
  type TestRunner,
} from '../../../src/testing/index.ts'

/** Tests the contract suites: each storage, key store and quota store in this file has one fault that its suite must name. */

const close = async () => {}
const timer = () => new Promise<void>((resolve) => setTimeout(resolve, 0))
const tick = () => new Promise<void>((resolve) => setImmediate(resolve))

/** The first line of the report of each fault, which names the rule. */
const firstLines: Record<string, string> = {
  'list returns pages in reverse': 'list({ limit: 10 }) returned animal 2 after animal 3: ids must ascend',
  'list returns one animal too few':
    'list({ limit: 2 }) left out animal 2: a page is full unless no more animals match',
  'list returns one animal too many': 'list({ limit: 2 }) returned 3 animals: a page must not exceed its limit',
  'list returns at most 100 animals':
    'list({ limit: 101 }) left out animal 101: a page is full unless no more animals match',
  'list includes the animal of `after`': 'list({ after: 1n }) returned animal 1: after is exclusive',
  'list returns nothing for a negative `after`':
    'list({ limit: 10, after: -1n }) left out animal 1: a page is full unless no more animals match',
  'list ignores status':
    'list({ status: "sold" }) returned animal 1 without a status: list returns only animals with the status of the query',
  'list filters by status after the limit':
    'list({ limit: 2, status: "sold", after: 1n }) left out animal 4: a page is full unless no more animals match',
  'create adds a status': 'create returned an animal with status "available": leave out members that were not given',
  'create rounds categoryId to a double':
    'create returned an animal with categoryId 9007199254740992n: expected 9007199254740993n',
  'create keeps 32 bits of categoryId': 'create returned an animal with categoryId -2147483648n: expected 2147483648n',
  'create normalizes names': 'create returned an animal with name "Zo\\u{eb}": expected "Zoe\\u{308}"',
  'create trims names': 'create returned an animal with name "Rex": expected " Rex "',
  'create shortens names':
    'create returned an animal with name "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…" (255 characters): expected "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…" (1000 characters), which differs after 255 characters',
  'create returns an id that is a number': 'create returned the id 1, a number: an id is a bigint',
  'create loses every 20th animal': 'create returned id 20 after id 1000000020: ids must ascend',
  'create gives ids from 0 on': 'create returned the id 0: the smallest id is 1',
  'concurrent calls of create lose animals':
    'get(1n) returned undefined: animal 1 was lost, although create had returned it',
  'create gives descending ids': 'create returned id 99 after id 100: ids must ascend',
  'create gives the same id again': 'create returned id 1 twice: each animal has an id of its own',
  'create returns before the animal is stored':
    'get(1n) returned undefined: animal 1 was lost, although create had returned it',
  'create keeps a status of null': 'create returned an animal with status null: leave out members that were not given',
  'create throws':
    'create({ name: "Rex", categoryId: 1n }) threw TypeError: Do not know how to serialize a BigInt: create adds any valid animal',
  'list ignores the limit': 'list({ limit: 2 }) returned 3 animals: a page must not exceed its limit',
  'list returns the greatest ids': 'list({ limit: 10 }) returned animal 2 after animal 3: ids must ascend',
  'list returns a member of the database':
    'list({ limit: 10 }) returned animal 1 with _id "x": leave out members that were not given',
  'list returns an animal when a new storage is opened': 'a new storage has animal 7: open() must return an empty one',
  'get returns nothing': 'get(1n) returned undefined: animal 1 was lost, although create had returned it',
  'get throws if there is no animal':
    'get(2n) threw Error: no rows: for an unknown id, get must return undefined or null',
  'get returns an empty animal if there is none':
    'get(2n) returned animal 0: for an unknown id, get must return undefined or null',
  'get keeps 32 bits of its id':
    'get(4294967297n) returned animal 1: for an unknown id, get must return undefined or null',
  'get ignores the sign': 'get(-1n) returned animal 1: for an unknown id, get must return undefined or null',
  'concurrent calls of create get the same id': 'create returned id 1 twice: each animal has an id of its own',
  'animals become visible in another order than their ids':
    'list showed animal 2 before animal 1: ids must become visible in ascending order, or readers skip some',
  'create and list return the stored objects':
    'list({ limit: 9, status: "sold" }) returned animal 2 after animal 3: ids must ascend',
  'create ignores the idempotency key':
    'createOnce added animal 2 for a key that has added animal 1: within 48 hours, a key adds one animal',
  'create looks for the idempotency key before it adds':
    'createOnce added 10 animals for 10 concurrent calls with one key: a key adds one animal',
  'create ignores the fingerprint': 'createOnce returned an animal with { earlier: "same" }: the fingerprints differ',
  'all scopes share their idempotency keys':
    'createOnce returned an animal with { earlier: "same" }: no earlier call of this scope has this key',
  'create ignores the case of idempotency keys':
    'createOnce returned an animal with { earlier: "same" }: no earlier call of this scope has this key',
  'create shortens idempotency keys':
    'createOnce returned an animal with { earlier: "same" }: no earlier call of this scope has this key',
  'idempotency keys never expire':
    'createOnce returned an animal with { earlier: "same" }: idempotency keys expire after 48 hours',
  'idempotency keys end too soon':
    'createOnce added animal 2 for a key that has added animal 1: within 48 hours, a key adds one animal',
  'create returns a new id for a repeat': 'createOnce returned the id 2n for a key that has added animal 1',
  'update does nothing':
    'update(the id of key 1, { plan: "enterprise", limits: { perMinute: 1, perDay: 4294967296 } }) returned key 1 with plan "free": expected "enterprise"',
  'update keeps members that are null':
    'update(the id of key 1, { plan: "pro", account: null, label: null, limits: null, expiresAt: null }) returned key 1 with label "desk": leave out members that were not given',
  'update changes revoked keys': 'update(the id of key 1, { plan: "pro" }) returned key 1: this key is revoked',
  'revoke does nothing': 'find(the token of key 1) returned key 1: this key is revoked',
  'revoke always returns true': 'revoke("key_unknown") returned true: there is no such key',
  'revoke returns nothing': 'revoke(the id of key 1) returned undefined: the key was not revoked before',
  'find throws for an unknown token':
    'find(the token of key 1 with another last character) threw Error: not found: for unknown tokens, return undefined',
  'find compares the hash with the token':
    'find(the token of key 1 replaced by its SHA-256) returned key "key_1": find must compare the SHA-256 of the whole token',
  'issue returns the hash':
    'issue({ plan: "free" }) returned key 1 with hash "x": leave out members that were not given',
  'list returns the newest key first': 'list() returned key 2 before key 1: the oldest key must come first',
  'list omits revoked keys': 'list() left out key 1: list must return every key, also revoked ones',
  'list omits revokedAt': 'list() returned key 1 without revokedAt: expected 1767225600000',
  'list contains a token': 'list() returned key 1 with a token: a store keeps only the SHA-256 of a token',
  'find ignores characters after the token':
    'find(the token of key 1 with one character too many) returned key 1: find must compare the SHA-256 of the whole token',
  'find returns expired keys': 'find(the token of key 2) returned key 2: this key has expired',
  'keys expire one millisecond too late': 'find(the token of key 2) returned key 2: this key has expired',
  'keys expire one millisecond too early':
    'find(the token of key 2) returned undefined: find must return the key of this token',
  'find omits expiresAt': 'find(the token of key 2) returned key 2 without expiresAt: expected 1767225600001',
  'list omits an empty label': 'list() returned key 1 without label: expected ""',
  'find keeps 32 bits of a limit':
    'find(the token of key 1) returned undefined: find must return the key of this token',
  'issue accepts wrong options': 'issue({}) did not throw invalid_option: check the options with newKey',
  'two concurrent calls of revoke both return true':
    'revoke returned true 10 times for 10 calls at the same time: only one has revoked the key',
  'one request too many per minute': 'spend granted request 3 of the minute: perMinute is 2',
  'one request too many per day': 'spend granted request 3 of the day: perDay is 2',
  'no ban': 'spend started no ban: afterRefusals is 2, and that many requests of the minute were refused',
  'a ban that never ends':
    'spend returned a wrong bannedUntil: a ban ends 90 seconds after the refusal that started it',
  'a ban of minutes in place of seconds':
    'spend returned a wrong bannedUntil: a ban ends 90 seconds after the refusal that started it',
  'minutes that begin with the first request':
    'spend returned a wrong minuteEndsAt: windows are whole minutes of UTC, and do not begin with the first request',
  'days that begin with the first request':
    'spend returned a wrong dayEndsAt: windows are whole days of UTC, and do not begin with the first request',
  'days that never end': 'spend returned usedInDay 2: the count of a new day begins at 0',
  'a ban one refusal too late':
    'spend started no ban: afterRefusals is 2, and that many requests of the minute were refused',
  'subjects that ignore case': 'spend refused the first request of "account:A": each subject has counts of its own',
  'one count for all anonymous clients':
    'spend refused the first request of "address:192.0.2.2": each subject has counts of its own',
  'a clock that never goes back': 'spend returned a wrong `now`: expected the time at which the store decided',
  'times rounded to seconds': 'spend returned a wrong `now`: expected the time at which the store decided',
  'counts that restart when the clock steps back': 'spend granted request 2 of the minute: perMinute is 1',
  'refused requests that are counted':
    'spend returned usedInDay 3: 2 requests of this day were granted, and refused requests do not count',
  'a read and a write that are not atomic':
    'spend granted 200 of 200 simultaneous requests: the limits allow 50, and spend must be atomic',
  'list returns an animal twice': 'list({ limit: 10 }) returned animal 1 twice',
  'list returns animals that nobody has added':
    'list({ limit: 10 }) returned animal 999, which create has never returned',
  'list leaves out the first animal':
    'list({ limit: 2 }) left out animal 1: a page must have the smallest ids that match',
  'list returns ids below `after`': 'list({ after: 2n }) returned animal 1: list must return only ids above `after`',
  'list ends early for a status': 'the pages of list left out animal 4, which create had returned',
  'create gives an id above int64': 'create returned the id 9223372036854775808: an id is an int64',
  'get returns the previous animal': 'get(4n) returned animal 3: get must return the animal with this id',
  'get returns a name': 'get(1n) returned "Rex": get must return the animal',
  'create fails after a client has disconnected':
    'create({ name: "next", categoryId: 3n }) threw Error: the connection is closed: create adds any valid animal',
  'create adds two animals for a client that has disconnected':
    'list returned 4 animals, but create was called only 3 times',
  'create reports another animal for an equal fingerprint':
    'createOnce returned an animal with { earlier: "different" }: both calls have the same fingerprint',
  'create shortens the name of a repeat': 'createOnce returned an animal with name "ex": expected "Rex"',
  'createOnce returns nothing': 'create returned undefined: create must return the new animal',
  'issue returns only the token': 'issue({ plan: "free" }) returned "pet_…": issue must return { token, key }',
  'issue gives an id twice': 'issue returned a token or an id twice: each key must have a new token and a new id',
  'issue changes the plan': 'issue({ plan: "free" }) returned key 1 with plan "lost": expected "free"',
  'update returns nothing':
    'update(the id of key 1, { plan: "enterprise", limits: { perMinute: 1, perDay: 4294967296 } }) returned undefined: update must return the changed key',
  'update returns a key for an unknown id':
    'update("key_unknown", { plan: "pro" }) returned key "key_unknown": there is no such key',
  'update accepts wrong changes':
    'update(the id of key 1, { plan: null }) did not throw invalid_option: check the changes with keyChanges',
  'revoke returns true again': 'revoke(the id of key 1) returned true: the key was revoked before',
  'one of several concurrent calls of revoke returns false':
    'revoke(the id of key 1) returned false: the key was not revoked before',
  'list returns nothing': 'list() returned undefined: list must return an array',
  'list returns a key twice': 'list() returned 4 keys: 2 were issued',
  'list returns a key when a new key store is opened': 'a new key store has keys: open() must return an empty one',
  'find returns the first key': 'find(the token of key 2) returned key 2 with plan "free": expected "pro"',
  'spend returns nothing': 'spend returned undefined: spend must return the counts',
  'a ban that refuses nothing': 'spend granted a request during a ban, which ends at 2026-01-01T00:01:30.000Z',
  'a ban that refuses a request after its end':
    'spend refused a request after the end of the ban at 2026-01-01T00:01:30.000Z',
  'a ban one refusal too early': 'spend started a ban too early: afterRefusals is 2',
  'a ban although the request has no ban rule': 'spend returned bannedUntil although ban is false',
  'a first request that is refused':
    'spend refused the first request of "address:192.0.2.1": each subject has counts of its own',
  'the refusals of a minute go on after its end': 'spend refused a request of a new minute: its count begins at 0',
  'the refusals of a day go on after its end': 'spend refused a request of a new day: its count begins at 0',
  'one request too few per minute':
    'spend refused a request within the limits: 1 of 2 used in this minute, 1 of 10 on this day',
  'minutes that are not shortened when the clock steps back':
    'spend returned a wrong minuteEndsAt: after the clock steps back, a window ends at most one minute after the new time',
  'refused requests that are counted in the minute':
    'spend counted a refused request in the minute: a refused request counts in neither window',
}

/** Runs the tests of a suite, and returns the errors of the tests that fail. */
async function failures(suite: (runner: TestRunner) => void): Promise<unknown[]> {
  const bodies: (() => Promise<void>)[] = []
  suite({ describe: (_name, body) => body(), test: (_name, body) => bodies.push(body) })
  const failed: unknown[] = []
  for (const body of bodies) await body().catch((error) => failed.push(error))
  return failed
}

type Faults<Port> = Record<string, (sound: Port, clock: Clock) => Partial<Port>>

const storageFaults: Faults<PetStorage> = {
  'list returns an animal twice': (sound) => ({
    list: async (query) => {
      const page = await sound.list(query)
      return page.length < query.limit ? page.flatMap((pet) => [pet, pet]) : page
    },
  }),
  'list returns animals that nobody has added': (sound) => ({
    list: async (query) => {
      const page = await sound.list(query)
      return query.limit > Math.max(1, page.length) ? [...page, { id: 999n, name: 'Rex', categoryId: 1n }] : page
    },
  }),
  'list leaves out the first animal': (sound) => ({
    list: async (query) =>
      (await sound.list({ ...query, limit: query.limit + 1 })).slice(query.limit > 1 ? -query.limit : 0),
  }),
  'list returns ids below `after`': (sound) => ({
    list: async ({ after, limit, status }) =>
      (await sound.list({ limit: 1_000, status })).filter(({ id }) => id !== after).slice(0, limit),
  }),
  'list ends early for a status': (sound) => ({
    list: ({ limit, after = 0n, status }) =>
      status === 'sold' && limit === 1 && after > 2n ? [] : sound.list({ limit, after, status }),
  }),
  'create gives an id above int64': () => listOf(() => 2n ** 63n),
  'get returns the previous animal': (sound) => ({ get: (id) => sound.get(id === 4n ? 3n : id) }),
  'get returns a name': (sound) => ({ get: async (id) => (await sound.get(id))?.name as never }),
  'create fails after a client has disconnected': (sound) => {
    let isBroken = false
    return {
      create(pet, context) {
        if (isBroken) throw new Error('the connection is closed')
        isBroken = context?.signal?.aborted ?? false
        return sound.create(pet)
      },
    }
  },
  'create adds two animals for a client that has disconnected': (sound) => ({
    create(pet, context) {
      if (context?.signal?.aborted) void sound.create(pet)
      return sound.create(pet)
    },
  }),
  'create reports another animal for an equal fingerprint': (sound) =>
    withCreateOnce(async (pet, idempotency) => {
      const created = (await sound.createOnce?.(pet, idempotency)) as CreatedPet
      return created.earlier ? { ...created, earlier: 'different' } : created
    }),
  'create shortens the name of a repeat': (sound) =>
    withCreateOnce(async (pet, idempotency) => {
      const created = (await sound.createOnce?.(pet, idempotency)) as CreatedPet
      return created.earlier ? { ...created, name: created.name.slice(1) } : created
    }),
  'createOnce returns nothing': () => withCreateOnce(async () => undefined as never),
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
  'create gives ids from 0 on': () => listOf((pets) => BigInt(pets.length)),
  'concurrent calls of create lose animals': () => {
    let [last, pets]: [bigint, Pet[]] = [0n, []]
    return {
      async create(pet) {
        const created = { ...pet, id: ++last }
        const read = pets
        await timer()
        pets = [...read, created]
        return created
      },
      list: ({ limit, after = 0n, status }) =>
        pets.filter((pet) => pet.id > after && (!status || pet.status === status)).slice(0, limit),
      get: (id) => pets.find((pet) => pet.id === id),
    }
  },
  'create gives descending ids': () => listOf((pets) => BigInt(100 - pets.length)),
  'create gives the same id again': () => listOf(() => 1n),
  'create returns before the animal is stored': (sound) => {
    const later = timer()
    return {
      create: (pet) => {
        void later.then(() => sound.create(pet))
        return { ...pet, id: 1n }
      },
    }
  },
  'create keeps a status of null': (sound) => ({
    create: async (pet) => ({ status: null as never, ...(await sound.create(pet)) }),
  }),
  'create throws': () => ({
    create: () => {
      throw new TypeError('Do not know how to serialize a BigInt')
    },
  }),
  'list ignores the limit': (sound) => ({ list: (query) => sound.list({ ...query, limit: 1_000 }) }),
  'list returns the greatest ids': (sound) => ({
    list: async (query) => [...(await sound.list({ ...query, limit: 1_000 }))].reverse().slice(0, query.limit),
  }),
  'list returns a member of the database': (sound) => ({
    list: async (query) => (await sound.list(query)).map((pet) => ({ _id: 'x', ...pet })),
  }),
  'list returns an animal when a new storage is opened': (sound) => ({
    list: (query) => (query.limit === 1 ? [{ id: 7n, name: 'Rex', categoryId: 1n }] : sound.list(query)),
  }),
  'get returns nothing': () => ({ get: () => undefined }),
  'get throws if there is no animal': (sound) => ({
    get: async (id) => {
      const pet = await sound.get(id)
      if (!pet) throw new Error('no rows')
      return pet
    },
  }),
  'get returns an empty animal if there is none': (sound) => ({
    get: async (id) => (await sound.get(id)) ?? ({ id: 0n } as Pet),
  }),
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
  'create ignores the idempotency key': (sound) => withCreateOnce((pet) => sound.create(pet)),
  'create looks for the idempotency key before it adds': (sound) => {
    const used = new Map<string, bigint>()
    return withCreateOnce(async (pet, { key }) => {
      const id = used.get(key)
      await timer()
      if (id !== undefined) return { ...pet, id, earlier: 'same' }
      const created = await sound.create(pet)
      used.set(key, created.id)
      return created
    })
  },
  'create ignores the fingerprint': (sound) =>
    withCreateOnce(async (pet, idempotency) => {
      const created = (await sound.createOnce?.(pet, idempotency)) as CreatedPet
      return created.earlier ? { ...created, earlier: 'same' } : created
    }),
  'all scopes share their idempotency keys': (sound) => withCreateOnce(withKey(sound, () => ({ scope: '' }))),
  'create ignores the case of idempotency keys': (sound) =>
    withCreateOnce(withKey(sound, ({ key }) => ({ key: key.toLowerCase() }))),
  'create shortens idempotency keys': (sound) =>
    withCreateOnce(withKey(sound, ({ key }) => ({ key: key.slice(0, 254) }))),
  'idempotency keys never expire': () => memory({ clock: { now: () => 0 } }).storage,
  'idempotency keys end too soon': (_, clock) => memory({ clock: { now: () => 2 * clock.now() } }).storage,
  'create returns a new id for a repeat': (sound) =>
    withCreateOnce(async (pet, idempotency) => {
      const created = (await sound.createOnce?.(pet, idempotency)) as CreatedPet
      return created.earlier ? { ...created, id: created.id + 1n } : created
    }),
}

type CreateOnce = NonNullable<PetStorage['createOnce']>

function withCreateOnce(createOnce: CreateOnce): Partial<PetStorage> {
  return { createOnce }
}

/** Returns a `createOnce` that changes the scope, key or fingerprint, and then calls `sound.createOnce`, which is correct. */
function withKey(sound: PetStorage, change: (given: Idempotency) => Partial<Idempotency>): CreateOnce {
  return (pet, given) => (sound.createOnce as CreateOnce)(pet, { ...given, ...change(given) })
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
    list: async ({ limit, after, status }) =>
      pets
        .filter((pet) => (after === undefined || pet.id > after) && (!status || pet.status === status))
        .slice(0, limit),
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

/** Returns methods that find each key that is not revoked, unless `isExpired` returns true for its `expiresAt`. */
function findingUnless(sound: ManagedKeyStore, isExpired: (expiresAt: number) => boolean): Partial<ManagedKeyStore> {
  const ids = new Map<string, string>()
  return {
    async issue(options) {
      const issued = await sound.issue(options)
      ids.set(issued.token, issued.key.id)
      return issued
    },
    async find(token) {
      const key = (await sound.list()).find(({ id }) => id === ids.get(token))
      if (key === undefined || key.revokedAt !== undefined) return undefined
      return key.expiresAt !== undefined && isExpired(key.expiresAt) ? undefined : key
    },
  }
}

const keyFaults: Faults<ManagedKeyStore> = {
  'issue returns only the token': (sound) => ({
    issue: async (options) => (await sound.issue(options)).token as never,
  }),
  'issue gives an id twice': (sound) => ({
    issue: async (options) => {
      const issued = await sound.issue(options)
      return { ...issued, key: { ...issued.key, id: 'key_1' } }
    },
  }),
  'issue changes the plan': (sound) => ({
    issue: async (options) => {
      const issued = await sound.issue(options)
      return { ...issued, key: { ...issued.key, plan: 'lost' } }
    },
  }),
  'update returns nothing': (sound) => ({
    update: async (id, changes) => void (await sound.update(id, changes)) as never,
  }),
  'update returns a key for an unknown id': (sound) => ({
    update: async (id, changes) =>
      (await sound.update(id, changes)) ?? (id === 'key_unknown' ? { id, plan: 'free', createdAt: 0 } : undefined),
  }),
  'update accepts wrong changes': (sound) => ({
    update: (id, changes) => sound.update(id, changes).catch(() => undefined),
  }),
  'revoke returns true again': (sound) => ({
    revoke: async (id) => (await sound.revoke(id)) || (await sound.list()).some((key) => key.id === id),
  }),
  'one of several concurrent calls of revoke returns false': (sound) => {
    let running = 0
    return {
      async revoke(id) {
        running++
        await tick()
        const result = await sound.revoke(id)
        return running-- > 1 ? false : result
      },
    }
  },
  'list returns nothing': () => ({ list: async () => undefined as never }),
  'list returns a key twice': (sound) => ({ list: async () => (await sound.list()).flatMap((key) => [key, key]) }),
  'list returns a key when a new key store is opened': (sound) => ({
    list: async () => [{ id: 'key_old', plan: 'free', createdAt: 0 }, ...(await sound.list())],
  }),
  'find returns the first key': (sound) => ({
    find: async (token) => (await sound.find(token)) && (await sound.list())[0],
  }),
  'update does nothing': (sound) => ({
    update: async (id) => (await sound.list()).find((key) => key.id === id && key.revokedAt === undefined),
  }),
  'update keeps members that are null': (sound) => ({
    update: (id, { label, ...changes }) => sound.update(id, { ...changes, label: label ?? undefined }),
  }),
  'update changes revoked keys': (sound) => ({
    update: async (id, changes) =>
      (await sound.update(id, changes)) ?? (await sound.list()).find((key) => key.id === id),
  }),
  'revoke does nothing': () => ({ revoke: async () => true }),
  'revoke always returns true': (sound) => ({ revoke: async (id) => (await sound.revoke(id)) || true }),
  'revoke returns nothing': (sound) => ({ revoke: async (id) => void (await sound.revoke(id)) as never }),
  'find throws for an unknown token': (sound) => ({
    find: async (token) => {
      const key = await sound.find(token)
      if (!key) throw new Error('not found')
      return key
    },
  }),
  'find compares the hash with the token': (sound) => {
    let hash = ''
    return {
      issue: async (options) => {
        const issued = await sound.issue(options)
        hash = await hashToken(issued.token)
        return issued
      },
      find: (token) => (token === hash ? { id: 'key_1', plan: 'free', createdAt: 0 } : sound.find(token)),
    }
  },
  'issue returns the hash': (sound) => ({
    issue: async (options) => {
      const issued = await sound.issue(options)
      return { ...issued, key: { ...issued.key, hash: 'x' } }
    },
  }),
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
  'find returns expired keys': (sound) => findingUnless(sound, () => false),
  'keys expire one millisecond too late': (sound, clock) =>
    findingUnless(sound, (expiresAt) => expiresAt < clock.now()),
  'keys expire one millisecond too early': (sound, clock) =>
    findingUnless(sound, (expiresAt) => expiresAt <= clock.now() + 1),
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

/** A quota store whose windows begin with the first request. */
function sliding(length: number, name: 'minuteEndsAt' | 'dayEndsAt'): QuotaStore {
  const store = counting((request) => request)
  return { spend: async (request) => ({ ...(await store.spend(request)), [name]: request.now + length }) }
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

/** A quota store that refuses each request outside the first window of its subject. */
function refusingAfter(end: 'minuteEndsAt' | 'dayEndsAt'): QuotaStore {
  const store = counting((request) => request)
  const first = new Map<string, number>()
  return {
    async spend(request) {
      const count = await store.spend(request)
      const endsAt = first.get(request.subject) ?? count[end]
      first.set(request.subject, endsAt)
      return endsAt === count[end] ? count : { ...count, granted: false }
    },
  }
}

/** A quota store that returns changed counts for a subject after the subject has been banned for the first time. */
function onceBanned(change: (count: QuotaCount, request: QuotaRequest) => QuotaCount): QuotaStore {
  const store = counting((request) => request)
  const banned = new Set<string>()
  return {
    async spend(request) {
      const count = await store.spend(request)
      if (count.bannedUntil > 0) banned.add(request.subject)
      return banned.has(request.subject) ? change(count, request) : count
    },
  }
}

const more = (limit: number) => Math.min(limit + 1, Number.MAX_SAFE_INTEGER)

const quotaFaults: Faults<QuotaStore> = {
  'spend returns nothing': () => ({ spend: () => undefined as never }),
  'a ban that refuses nothing': () => {
    const store = counting((request) => request)
    const banned = new Map<string, number>()
    return {
      async spend(request) {
        const isBanned = (banned.get(request.subject) ?? 0) > request.now
        const count = await store.spend(request)
        banned.set(request.subject, count.bannedUntil)
        return isBanned ? { ...count, granted: true } : count
      },
    }
  },
  'a ban that refuses a request after its end': () => onceBanned((count) => ({ ...count, granted: false })),
  'a ban one refusal too early': () =>
    counting(({ ban, ...request }) => ({
      ...request,
      ban: ban && { ...ban, afterRefusals: Math.max(1, ban.afterRefusals - 1) },
    })),
  'a ban although the request has no ban rule': () => {
    const store = counting((request) => request)
    return { spend: async (request) => ({ ...(await store.spend(request)), ...(!request.ban && { bannedUntil: 9 }) }) }
  },
  'a first request that is refused': () => {
    const store = counting((request) => request)
    return {
      spend: async (request) => ({ ...(await store.spend(request)), ...(request.anonymous && { granted: false }) }),
    }
  },
  'the refusals of a minute go on after its end': () => refusingAfter('minuteEndsAt'),
  'the refusals of a day go on after its end': () => refusingAfter('dayEndsAt'),
  'one request too few per minute': () =>
    counting((request) => ({
      ...request,
      limits: { ...request.limits, perMinute: request.limits.perMinute - 1 || 1 },
    })),
  'minutes that are not shortened when the clock steps back': () => {
    const latest = new Map<string, number>()
    const store = counting((request) => request)
    return {
      async spend(request) {
        const count = await store.spend(request)
        const minuteEndsAt = Math.max(count.minuteEndsAt, latest.get(request.subject) ?? 0)
        latest.set(request.subject, minuteEndsAt)
        return { ...count, minuteEndsAt }
      },
    }
  },
  'refused requests that are counted in the minute': () => {
    const store = counting((request) => request)
    return {
      async spend(request) {
        const count = await store.spend(request)
        return count.granted ? count : { ...count, usedInMinute: count.usedInMinute + 1 }
      },
    }
  },
  'one request too many per minute': () =>
    counting((request) => ({ ...request, limits: { ...request.limits, perMinute: more(request.limits.perMinute) } })),
  'one request too many per day': () =>
    counting((request) => ({ ...request, limits: { ...request.limits, perDay: more(request.limits.perDay) } })),
  'no ban': () => counting((request) => ({ ...request, ban: false })),
  'a ban that never ends': () =>
    onceBanned((count, request) => ({ ...count, granted: false, bannedUntil: request.now + 1_000 })),
  'a ban of minutes in place of seconds': () =>
    counting(({ ban, ...request }) => ({ ...request, ban: ban && { ...ban, seconds: ban.seconds * 60 } })),
  'minutes that begin with the first request': () => sliding(60_000, 'minuteEndsAt'),
  'days that begin with the first request': () => sliding(86_400_000, 'dayEndsAt'),
  'days that never end': () => {
    const days = new Map<string, number>()
    const store = counting((request) => request)
    return {
      async spend(request) {
        const count = await store.spend(request)
        const used = (days.get(request.subject) ?? 0) + (count.granted ? 1 : 0)
        days.set(request.subject, used)
        return { ...count, usedInDay: used }
      },
    }
  },
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

function faulty<Port extends object>(sound: Port, fault: Faults<Port>[string], clock: Clock = manualClock()) {
  const changed = fault(sound, clock)
  // If the fault replaces `create`, leave out `createOnce`: it would add animals without the fault.
  const port = { ...sound, ...('create' in changed && { createOnce: undefined }), ...changed }
  return async () => ({ port, close })
}

/** Checks that the first test that fails names the rule, and that all reports are short and say what to do. */
function expectReports(reports: readonly unknown[], firstLine: string | undefined): void {
  const texts = reports.map(String)
  expect(texts[0]?.split('\n')[0]).toBe(`Error: ${firstLine}`)
  for (const text of texts) {
    expect(text).toMatch(/\n {2}expected: .+\n {2}received: .+\n(.+\n)* {2}run it again: .+$/)
    expect(text.split('\n').length).toBeLessThanOrEqual(15)
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThan(300)
  }
}

describe('the contract suites name the rule that is broken', () => {
  test.each(Object.entries(storageFaults))('the storage suite reports the fault: %s', async (name, fault) => {
    const open = (clock: Clock) => faulty(memory({ clock }).storage, fault, clock)()
    expectReports(await failures((runner) => storageContract(runner, { name, open, runs: 10 })), firstLines[name])
  })

  test.each(Object.entries(keyFaults))('the key store suite reports the fault: %s', async (name, fault) => {
    const open = (clock: Clock) => faulty(memory({ clock }).keyStore, fault, clock)()
    expectReports(await failures((runner) => keyStoreContract(runner, { name, open, runs: 10 })), firstLines[name])
  })

  test.each(Object.entries(quotaFaults))('the quota suite reports the fault: %s', async (name, fault) => {
    const open = (clock: Clock) => faulty(memory({ clock }).quota, fault)()
    expectReports(await failures((runner) => quotaContract(runner, { name, open, runs: 10 })), firstLines[name])
  })

  /** How many tests the storage suite has, and how many of them are not about idempotency keys. */
  const [ALL, WITHOUT_KEYS] = [25, 17]
  const wrongResults: [string, Partial<PetStorage>, string][] = [
    [
      'create returns nothing',
      { create: async () => undefined as never },
      'create returned undefined: create must return the new animal',
    ],
    [
      'list returns null',
      { list: async () => null as never },
      'list({ limit: 1 }) returned null: list must return an array',
    ],
    [
      'list returns an object',
      { list: () => ({ rows: [] }) as never },
      'list({ limit: 1 }) returned { rows: [] }: list must return an array',
    ],
  ]
  test.each(wrongResults)('every test of the storage suite reports the fault: %s', async (name, fault, firstLine) => {
    const open = faulty(memory().storage, () => fault)
    const failed = await failures((runner) => storageContract(runner, { name, open, runs: 10 }))
    expect(failed).toHaveLength(name.startsWith('create') ? WITHOUT_KEYS : ALL)
    for (const error of failed) expectReports([error], firstLine)
  })

  test('random sequences of the key store suite also update keys', async () => {
    const fault: Faults<ManagedKeyStore>[string] = (sound) => {
      let updates = 0
      return {
        update: async (id, changes) => {
          const changed = await sound.update(id, changes)
          // The suite's fixed examples make at most two updates, so only the random sequences find this fault.
          return changed && ++updates > 2 ? { ...changed, plan: 'lost' } : changed
        },
      }
    }
    const open = (clock: Clock) => faulty(memory({ clock }).keyStore, fault)()
    const failed = await failures((runner) => keyStoreContract(runner, { name: 'ours', open, seed: 1 }))
    expect(failed.map(String)).toEqual([
      expect.stringMatching(/^Error: update\(.*\) returned key \d+ with plan "lost"/),
    ])
  })

  test('reports a storage that loses its animals when reopened', async () => {
    const open = async () => ({ port: memory().storage, close, reopen: () => memory().storage })
    const [report] = await failures((runner) => storageContract(runner, { name: 'ours', open }))
    expectReports([report], 'get(1n) returned undefined: animal 1 was lost, although create had returned it')
  })

  test('reports a storage that loses one animal in ten when reopened', async () => {
    const open = async (clock: Clock) => {
      const { storage } = memory({ clock })
      const isKept = (pet: Pet | null | undefined) => pet?.id !== undefined && pet.id % 10n !== 0n
      const reopen = (): PetStorage => ({
        ...storage,
        async get(id) {
          const pet = await storage.get(id)
          return isKept(pet) ? pet : undefined
        },
        list: async (query) => (await storage.list(query)).filter(isKept),
      })
      return { port: storage, close, reopen }
    }
    const reports = await failures((runner) => storageContract(runner, { name: 'ours', open }))
    expect(reports).toHaveLength(2) // one test uses idempotency keys, the other does not
    expectReports(reports, 'get(10n) returned undefined: animal 10 was lost, although create had returned it')
  })

  test('reports a key store that loses one key in ten when reopened', async () => {
    const open = async (clock: Clock) => {
      const { keyStore } = memory({ clock })
      const find = async (token: string) => {
        const key = await keyStore.find(token)
        const number = (await keyStore.list()).findIndex(({ id }) => id === key?.id) + 1
        return number % 10 === 0 ? undefined : key
      }
      return { port: keyStore, close, reopen: () => ({ ...keyStore, find }) }
    }
    const [report] = await failures((runner) => keyStoreContract(runner, { name: 'ours', open }))
    expectReports([report], 'find(the token of key 10) returned undefined: find must return the key of this token')
  })

  test('the report names a wrong return value of reopen', async () => {
    const open = async () => {
      const port = memory().storage
      return { port, close, reopen: () => ({ port, close }) as never }
    }
    const [report] = await failures((runner) => storageContract(runner, { name: 'ours', open }))
    expectReports([report], 'reopen() did not return a port')
  })

  test.each(['node:test', 'vitest'])('tests that do not apply to a storage are skipped: %s', async (name) => {
    const skipped = new Map<string, string>()
    const tests: Promise<void>[] = []
    const runner: TestRunner = {
      describe: (_, body) => body(),
      test(title, body: (context?: object) => Promise<void>) {
        expect(body).toHaveLength(0)
        const aborted = new Error('test is skipped')
        const skip = (reason: string) => {
          skipped.set(title, reason)
          if (name === 'vitest') throw aborted
        }
        tests.push(body({ skip }).catch((error) => expect(error).toBe(aborted)))
      },
    }
    const open = async () => ({ port: { ...memory().storage, createOnce: undefined }, close })
    storageContract(runner, { name, open, runs: 3 })
    await Promise.all(tests)
    const titles = [...skipped.keys()].filter((title) => skipped.get(title) === 'the storage has no method createOnce')
    expect(titles.length).toBe(ALL - WITHOUT_KEYS)
    expect(titles.filter((title) => !/idempotency|createOnce/.test(title))).toEqual([])
    expect([...skipped].filter(([title]) => !titles.includes(title))).toEqual([
      ['keeps all animals when the storage is opened again', 'open() did not return a function `reopen`'],
    ])
  })

  test('a report shows the error, the steps, and how to run the test again', async () => {
    const fault = storageFaults['list includes the animal of `after`'] ?? (() => ({}))
    const open = () => faulty(memory().storage, fault)()
    const [report] = await failures((runner) => storageContract(runner, { name: 'ours', open }))
    expect(String(report)).toBe(`Error: list({ after: 1n }) returned animal 1: after is exclusive
  expected: only ids above 1n
  received: animals 1, 2
  steps:
    create({ name: "Rex", categoryId: 1n }) → animal 1
    create({ name: "Rex", categoryId: 1n }) → animal 2
    list({ limit: 10, after: 1n }) → animals 1, 2
  run it again: this test alone, "list returns only ids above \`after\`". It has no random values.`)
  })

  test('the seed in a report reproduces the failure', async () => {
    const open = (clock: Clock) => faulty(memory({ clock }).quota, quotaFaults['times rounded to seconds'] as never)()
    const [first] = await failures((runner) => quotaContract(runner, { name: 'ours', open }))
    const seed = Number(/add seed: (-?\d+) to the options of quotaContract/.exec(String(first))?.[1])
    const [second] = await failures((runner) => quotaContract(runner, { name: 'ours', open, seed }))
    expect(String(second)).toBe(String(first))
  })

  test.each([undefined, memory().storage, { port: memory().storage }])(
    'the report names a wrong return value of open (case %#)',
    async (value) => {
      const open = async () => value as never
      const [report] = await failures((runner) => storageContract(runner, { name: 'ours', open }))
      expectReports([report], 'open() did not return { port, close }')
    },
  )

  test('a report shows an error that open or close throws', async () => {
    const refuse = async () => {
      throw new Error('connect ECONNREFUSED 127.0.0.1:3306')
    }
    const [opening] = await failures((runner) => storageContract(runner, { name: 'ours', open: refuse }))
    const open = async () => ({ port: memory().storage, close: refuse })
    const [closing] = await failures((runner) => storageContract(runner, { name: 'ours', open }))
    expectReports(
      [opening],
      'open() threw Error: connect ECONNREFUSED 127.0.0.1:3306: open() must return { port, close }',
    )
    expectReports(
      [closing],
      'close() threw Error: connect ECONNREFUSED 127.0.0.1:3306: close() must close what open() opened',
    )
  })
})
