import type { Arbitrary } from 'fast-check'
import { hashToken } from '../../../keys/token.ts'
import type { ApiKey, KeyState } from '../../../model.ts'
import type { IssuedKey, IssueOptions, KeyChanges, KeyQuery, ManagedKeyStore } from '../../../ports.ts'
import { manualClock } from '../../store/clock.ts'
import { equal, show } from './report.ts'
import { type FastCheck, type On, type Store, type SuiteOptions, suiteOf, type TestRunner } from './suite.ts'
import { texts } from './values.ts'

/** The options of {@link keyStoreContract}. */
export type KeyStoreContractOptions = SuiteOptions<ManagedKeyStore>
type Keys = Store<ManagedKeyStore>

const LIMITS = { perMinute: 1, perDay: 2 ** 32 }
const ALL = { plan: 'enterprise', account: 'acme', label: 'desk', limits: LIMITS, access: 'read' } as const

/**
 * Adds the tests that every {@link ManagedKeyStore} must pass. They need `fast-check`. Each test
 * has one rule, which is its title. Then random calls must have the same results as a plain list of
 * keys. Keys expire by the clock that `open` gets.
 * @example
 * ```ts
 * import { describe, test } from 'node:test'
 * import { memory } from 'petstore-kit'
 * import { keyStoreContract } from 'petstore-kit/testing'
 *
 * keyStoreContract({ describe, test }, {
 *   name: 'our keys',
 *   open: async (clock) => ({ port: memory({ clock }).keyStore, close: async () => {} }),
 * })
 * ```
 */
export function keyStoreContract(runner: TestRunner, options: KeyStoreContractOptions): void {
  runner.describe(`key store: ${options.name}`, () => {
    const { rule, modelTest } = suiteOf(runner, { commands: 40, ...options }, isEmpty)

    rule('find returns the key of a token', async (store) => {
      const one = await issue(store)
      const other = await issue(store, { ...ALL, label: '', expiresAt: store.clock.now() + 1 })
      for (const { token, key } of [one, other]) await store.returns('find', [token], key)
    })
    rule('find compares all characters of a token', async (store) => {
      const { token } = await issue(store)
      for (const wrong of await wrongTokens(token)) await store.returns('find', [wrong], undefined)
    })
    rule('find returns no key that is revoked', async (store) => {
      const { token, key } = await issue(store)
      await store.returns('find', [token], key)
      await store.returns('revoke', [key.id], true)
      await store.returns('find', [token], undefined)
    })
    rule('find returns no key that has expired', async (store) => {
      const { token, key } = await issue(store, { plan: 'free', expiresAt: store.clock.now() + 1_500 })
      const expired = await issue(store, { plan: 'free', expiresAt: store.clock.now() })
      await store.returns('find', [expired.token], undefined)
      store.clock.advance(1_499)
      await store.returns('find', [token], key)
      store.clock.advance(1)
      await store.returns('find', [token], undefined)
      await store.returns('update', [key.id, { expiresAt: null }], { ...key, expiresAt: undefined })
      await store.returns('find', [token], { ...key, expiresAt: undefined })
    })
    rule('revoke returns false for an unknown or revoked key', async (store) => {
      const { key } = await issue(store)
      await store.returns('revoke', ['key_unknown'], false)
      await store.returns('revoke', [key.id], true)
      await store.returns('revoke', [key.id], false)
    })
    rule('update does not change members that are absent or undefined', async (store) => {
      const { token, key } = await issue(store, { plan: 'free', account: 'acme', label: 'desk' })
      const other = await issue(store, { plan: 'free', account: 'acme' })
      const first = { plan: 'enterprise', limits: LIMITS, label: undefined }
      await store.returns('update', [key.id, first], { ...key, ...first, label: 'desk' })
      const second = { account: 'other', label: '', expiresAt: store.clock.now() + 1_000 }
      const changed = { ...key, ...first, ...second }
      await store.returns('update', [key.id, second], changed)
      await store.returns('find', [token], changed)
      await store.returns('list', [EVERY], [changed, other.key])
    })
    rule('update removes members that are null', async (store) => {
      const { key } = await issue(store, ALL)
      const changed = { id: key.id, createdAt: key.createdAt, plan: 'pro' }
      const changes = { plan: 'pro', account: null, label: null, limits: null, access: null, expiresAt: null }
      await store.returns('update', [key.id, changes], changed)
      await store.returns('list', [EVERY], [changed])
    })
    rule('update returns undefined for an unknown or revoked key', async (store) => {
      const { token, key } = await issue(store)
      await store.returns('update', ['key_unknown', { plan: 'pro' }], undefined)
      await store.call('revoke', key.id)
      await store.returns('update', [key.id, { plan: 'pro' }], undefined)
      await store.returns('find', [token], undefined)
      await store.returns('list', [EVERY], [{ ...key, revokedAt: store.clock.now() }])
    })
    rule('two updates at once change both members', async (store) => {
      const { token, key } = await issue(store)
      const changes = [{ account: 'acme' }, { label: 'desk' }]
      await Promise.all(changes.map((change) => store.call('update', key.id, change)))
      await store.returns('find', [token], { ...key, account: 'acme', label: 'desk' })
    })
    rule('an update at the same time does not undo a revoke', async (store) => {
      const { token, key } = await issue(store)
      await Promise.all([store.call('update', key.id, { plan: 'pro' }), store.call('revoke', key.id)])
      await store.returns('find', [token], undefined)
      await store.returns('revoke', [key.id], false)
    })
    rule('list returns every key, the oldest first, also revoked ones', async (store) => {
      const keys: ApiKey[] = []
      for (let i = 0; i < 11; i++) {
        keys.push((await issue(store)).key)
        store.clock.advance(1_000)
      }
      await store.call('revoke', keys[1]?.id ?? '')
      const revokedAt = store.clock.now()
      const expected = keys.map((key, i) => (i === 1 ? { ...key, revokedAt } : key))
      await store.returns('list', [EVERY], expected)
    })
    rule('issue and update accept a date as a Date or as text', async (store) => {
      const { key } = await store.call('issue', { plan: 'free', expiresAt: '2040-01-31' })
      equal("issue({ expiresAt: '2040-01-31' }).key.expiresAt", key.expiresAt, Date.UTC(2040, 0, 31))
      const changed = await store.call('update', key.id, { expiresAt: new Date(Date.UTC(2041, 0, 1)) })
      equal('update(id, { expiresAt: new Date(…) }).expiresAt', changed?.expiresAt, Date.UTC(2041, 0, 1))
    })
    rule('get returns a key by its id, also a revoked one', async (store) => {
      const { key } = await issue(store, ALL)
      await store.returns('get', [key.id], key)
      await store.returns('get', ['key_unknown'], undefined)
      await store.call('revoke', key.id)
      await store.returns('get', [key.id], { ...key, revokedAt: store.clock.now() })
    })
    rule('ids of one moment are in the order of issue', async (store) => {
      const keys: ApiKey[] = []
      for (let i = 0; i < 20; i++) keys.push((await issue(store)).key)
      await store.returns('list', [EVERY], keys)
    })
    rule('list returns pages, also after a key that was removed', async (store) => {
      const keys: ApiKey[] = []
      for (let i = 0; i < 5; i++) keys.push((await issue(store)).key)
      const [first, second, third, fourth, fifth] = keys as [ApiKey, ApiKey, ApiKey, ApiKey, ApiKey]
      await store.returns('list', [{ limit: 2 }], [first, second])
      await store.call('revoke', second.id)
      await store.returns('remove', [second.id], true)
      await store.returns('list', [{ limit: 2, after: second.id }], [third, fourth])
      await store.returns('list', [{ limit: 2, after: fourth.id }], [fifth])
      await store.returns('list', [{ limit: 2, after: fifth.id }], [])
    })
    rule('list selects keys by account and state', async (store) => {
      const expiresAt = store.clock.now() + 1_000
      const { key: active } = await issue(store, { plan: 'free', account: 'acme' })
      const { key: expired } = await issue(store, { plan: 'free', account: 'acme', expiresAt })
      const { key: revoked } = await issue(store, { plan: 'free', account: 'acme' })
      const { key: suspended } = await issue(store, { plan: 'free', account: 'acme' })
      const { key: other } = await issue(store, { plan: 'free', account: 'Acme' })
      await store.call('suspend', suspended.id)
      await store.call('suspend', revoked.id)
      await store.call('revoke', revoked.id)
      store.clock.advance(1_000)
      const ids = async (query: KeyQuery) => (await store.call('list', { ...EVERY, ...query })).map(({ id }) => id)
      const account = 'acme'
      const everyState = [active, expired, revoked, suspended].map(({ id }) => id)
      equal("list({ account: 'acme' })", await ids({ account }), everyState)
      equal("list({ state: 'active' })", await ids({ state: 'active' }), [active.id, other.id])
      for (const [state, key] of Object.entries({ active, expired, revoked, suspended }) as [KeyState, ApiKey][])
        equal(`list({ account: 'acme', state: '${state}' })`, await ids({ account, state }), [key.id])
      equal("list({ account: 'acme', after: … })", await ids({ account, after: expired.id }), everyState.slice(2))
    })
    rule('rotate gives a key a new token, and ends the previous one after the overlap', async (store) => {
      const { token, key } = await issue(store, ALL)
      const rotated = await rotate(store, key.id, 60)
      const previousTokenExpiresAt = store.clock.now() + 60_000
      equal('rotate(…).key', rotated.key, { ...key, previousTokenExpiresAt })
      await store.returns('find', [rotated.token], rotated.key)
      await store.returns('find', [token], { ...rotated.key, tokenExpiresAt: previousTokenExpiresAt })
      store.clock.advance(59_999)
      await store.returns('find', [token], { ...rotated.key, tokenExpiresAt: previousTokenExpiresAt })
      store.clock.advance(1)
      await store.returns('find', [token], undefined)
      await store.returns('find', [rotated.token], rotated.key)
      await store.returns('get', [key.id], rotated.key)
    })
    rule('rotate without an overlap ends all other tokens at once', async (store) => {
      const { token, key } = await issue(store)
      const second = await rotate(store, key.id, 60)
      const third = await rotate(store, key.id, 0)
      equal('rotate(…).key', third.key, key)
      await store.returns('find', [token], undefined)
      await store.returns('find', [second.token], undefined)
      await store.returns('find', [third.token], key)
      store.clock.advance(-1_000)
      await store.returns('find', [second.token], undefined)
    })
    rule('a rotation during an overlap ends the older token at once', async (store) => {
      const { token, key } = await issue(store)
      const second = await rotate(store, key.id, 3_600)
      const third = await rotate(store, key.id, 60)
      const tokenExpiresAt = store.clock.now() + 60_000
      await store.returns('find', [token], undefined)
      await store.returns('find', [second.token], { ...third.key, tokenExpiresAt })
      await store.returns('find', [third.token], third.key)
    })
    rule('rotate returns undefined for an unknown or revoked key', async (store) => {
      const { token, key } = await issue(store)
      await store.returns('rotate', ['key_unknown', { overlapSeconds: 60 }], undefined)
      await store.call('revoke', key.id)
      await store.returns('rotate', [key.id, { overlapSeconds: 60 }], undefined)
      await store.returns('find', [token], undefined)
    })
    rule('revoke ends both tokens of a key', async (store) => {
      const { token, key } = await issue(store)
      const rotated = await rotate(store, key.id, 60)
      await store.call('revoke', key.id)
      for (const one of [token, rotated.token]) await store.returns('find', [one], undefined)
    })
    rule('suspend makes a key invalid until resume', async (store) => {
      const { token, key } = await issue(store)
      const suspended = { ...key, suspendedAt: store.clock.now() }
      await store.returns('suspend', [key.id], suspended)
      await store.returns('find', [token], undefined)
      store.clock.advance(1_000)
      await store.returns('suspend', [key.id], suspended)
      await store.returns('get', [key.id], suspended)
      await store.returns('resume', [key.id], key)
      await store.returns('find', [token], key)
      await store.returns('resume', [key.id], key)
    })
    rule('suspend and resume return undefined for an unknown or revoked key', async (store) => {
      const { key } = await issue(store)
      await store.call('revoke', key.id)
      for (const id of [key.id, 'key_unknown']) {
        await store.returns('suspend', [id], undefined)
        await store.returns('resume', [id], undefined)
      }
      await store.returns('get', [key.id], { ...key, revokedAt: store.clock.now() })
    })
    rule('remove deletes a key only if it has ended', async (store) => {
      const { key: active } = await issue(store)
      const { key: suspended } = await issue(store)
      const { key: revoked, token } = await issue(store)
      const { key: expired } = await issue(store, { plan: 'free', expiresAt: store.clock.now() + 1_000 })
      await store.call('suspend', suspended.id)
      await store.call('revoke', revoked.id)
      for (const id of [active.id, suspended.id, expired.id, 'key_unknown']) await store.returns('remove', [id], false)
      store.clock.advance(1_000)
      for (const id of [revoked.id, expired.id]) await store.returns('remove', [id], true)
      await store.returns('remove', [revoked.id], false)
      await store.returns('get', [revoked.id], undefined)
      await store.returns('find', [token], undefined)
      equal(
        'list(…)',
        (await store.call('list', EVERY)).map(({ id }) => id),
        [active.id, suspended.id],
      )
    })
    rule('adopt adds a key for a token of any form', async (store) => {
      const token = 'sk-live.0815_~+/=='
      const hash = await hashToken(token)
      const key = await store.call('adopt', hash, ALL)
      equal('adopt(…)', key, { ...ALL, id: key?.id, createdAt: store.clock.now() })
      await store.returns('find', [token], key)
      await store.returns('find', [hash], undefined)
      await store.returns('adopt', [hash, { plan: 'free' }], undefined)
      await store.returns('list', [EVERY], [key])
    })
    rule('adopt adds no second key for an issued token', async (store) => {
      const { token, key } = await issue(store)
      await store.returns('adopt', [await hashToken(token), { plan: 'free' }], undefined)
      const rotated = await rotate(store, key.id, 60)
      for (const one of [token, rotated.token])
        await store.returns('adopt', [await hashToken(one), { plan: 'free' }], undefined)
      await store.returns('list', [EVERY], [rotated.key])
    })
    rule('a key that was adopted can be rotated', async (store) => {
      const token = 'customer-token'
      const key = (await store.call('adopt', await hashToken(token), { plan: 'free' })) as ApiKey
      const rotated = await rotate(store, key.id, 60)
      const tokenExpiresAt = store.clock.now() + 60_000
      await store.returns('find', [token], { ...rotated.key, tokenExpiresAt })
      await store.returns('find', [rotated.token], rotated.key)
      await store.returns('adopt', [await hashToken(token), { plan: 'free' }], undefined)
      store.clock.advance(60_000)
      await store.returns('find', [token], undefined)
    })
    rule('recordUse stores the last day of each key', async (store) => {
      const { key: one, token } = await issue(store)
      const { key: other } = await issue(store)
      await store.call('recordUse', [one.id, 'key_unknown'], '2030-01-31')
      await store.returns('get', [one.id], { ...one, lastUsedOn: '2030-01-31' })
      await store.returns('get', [other.id], other)
      await store.call('recordUse', [one.id, other.id], '2030-01-30')
      await store.returns('get', [one.id], { ...one, lastUsedOn: '2030-01-31' })
      await store.returns('get', [other.id], { ...other, lastUsedOn: '2030-01-30' })
      await store.call('recordUse', [one.id], '2030-02-01')
      await store.returns('find', [token], { ...one, lastUsedOn: '2030-02-01' })
      await store.call('recordUse', [], '2030-02-01')
    })
    rule('issues different keys to concurrent calls', async (store) => {
      const all = await Promise.all(Array.from({ length: 20 }, () => issue(store)))
      const tokens = new Set(all.map(({ token }) => token))
      const ids = new Set(all.map(({ key }) => key.id))
      equal('20 calls of issue at once: the numbers of tokens and ids', [tokens.size, ids.size], [20, 20])
      for (const { token, key } of all) await store.returns('find', [token], key)
    })
    rule('only one of several concurrent revoke calls returns true, while others call find', async (store) => {
      const { token, key } = await issue(store)
      const ten = <Result>(call: () => Promise<Result>) => Promise.all(Array.from({ length: 10 }, call))
      const finding = ten(() => store.call('find', token))
      const [results] = await Promise.all([ten(() => store.call('revoke', key.id)), finding])
      equal('10 calls of revoke at once: the number of true', results.filter(Boolean).length, 1)
      await store.returns('find', [token], undefined)
    })
    const reopened = async (store: Keys) => {
      const all: IssuedKey[] = []
      for (let i = 0; i < 30; i++) all.push(await issue(store))
      const [changed, revoked, rotated, suspended, ...others] = all as [IssuedKey, IssuedKey, IssuedKey, IssuedKey]
      await store.call('update', changed.key.id, { plan: 'pro' })
      await store.call('revoke', revoked.key.id)
      const { token, key } = await rotate(store, rotated.key.id, 60)
      await store.call('suspend', suspended.key.id)
      await store.call('recordUse', [changed.key.id], '2030-01-31')
      const listed = await store.call('list', EVERY)
      await store.reopen()
      await store.returns('find', [changed.token], { ...changed.key, plan: 'pro', lastUsedOn: '2030-01-31' })
      for (const ended of [revoked, suspended]) await store.returns('find', [ended.token], undefined)
      const tokenExpiresAt = store.clock.now() + 60_000
      await store.returns('find', [rotated.token], { ...key, tokenExpiresAt })
      await store.returns('find', [token], key)
      for (const { token, key } of others as IssuedKey[]) await store.returns('find', [token], key)
      await store.returns('list', [EVERY], listed)
    }
    rule('keeps changed keys when the key store is opened again', reopened, ['reopen'])
    rule('issue rejects invalid options', async (store) => {
      for (const invalid of [{}, ...WRONG.map((members) => ({ plan: 'free', ...members }))])
        await rejects(`issue(${show(invalid)})`, store.call('issue', invalid as IssueOptions))
      await store.returns('list', [EVERY], [])
    })
    rule('update rejects invalid changes', async (store) => {
      const { key } = await issue(store)
      for (const invalid of [{ plan: null }, { id: 'key_other' }, ...WRONG])
        await rejects(`update(${show(invalid)})`, store.call('update', key.id, invalid as KeyChanges))
      await store.returns('list', [EVERY], [key])
    })

    modelTest('random calls give the same results as a plain list of keys', newModel, commandsOf)
  })
}

const isEmpty = async (store: Keys) =>
  equal('a new key store must be empty: list({ limit: 1000 })', await store.call('list', EVERY), [])

/** The query of all keys. */
const EVERY = { limit: 1_000 }

const WRONG_LIMITS = [0, 1.5, 2 ** 53, undefined]
const WRONG_VALUES: Record<keyof IssueOptions, readonly unknown[]> = {
  plan: ['', 7, 'a\u0000b', 'a\ud800b'],
  account: ['', '\udfff'],
  label: [7, 'a\u0000b', 'a\ud800b'],
  limits: WRONG_LIMITS.flatMap((wrong) => [
    { perMinute: wrong, perDay: 1 },
    { perMinute: 1, perDay: wrong },
  ]),
  access: ['', 'none', true],
  expiresAt: [1.5, Number.NaN, new Date(Number.NaN), '2030-02-30', 'soon'],
}
/** Each object has one member with an invalid value. */
const WRONG: object[] = Object.entries(WRONG_VALUES).flatMap(([name, all]) => all.map((value) => ({ [name]: value })))

async function rejects(text: string, result: Promise<unknown>): Promise<void> {
  const code = await result.then(show, ({ cause }) => cause?.code)
  equal(`${text}: the code of the error`, code, 'invalid_option')
}

/** Returns tokens that `find` must not take for this one. */
async function wrongTokens(token: string): Promise<string[]> {
  const last = token.endsWith('a') ? 'b' : 'a'
  return [token.slice(0, -1) + last, `${token}0`, token.slice(0, -1), token.toUpperCase(), '', await hashToken(token)]
}

async function rotate(store: Keys, id: string, overlapSeconds: number): Promise<IssuedKey> {
  const rotated = await store.call('rotate', id, { overlapSeconds })
  equal('rotate(…): the types of { token, key }', [typeof rotated?.token, typeof rotated?.key], ['string', 'object'])
  return rotated as IssuedKey
}

/** Issues a key, which must have the options, an id and the time, and not the token. */
async function issue(store: Keys, options: IssueOptions = { plan: 'free' }): Promise<IssuedKey> {
  const issued = await store.call('issue', options)
  const { token, key } = issued ?? {}
  equal(`issue(${show(options)}): the types of { token, key }`, [typeof token, typeof key?.id], ['string', 'string'])
  equal(`issue(${show(options)}).key`, key, { ...options, id: key.id, createdAt: store.clock.now() })
  return { token, key }
}

function stateIn({ revokedAt, expiresAt = Number.POSITIVE_INFINITY, suspendedAt }: ApiKey, now: number): KeyState {
  if (revokedAt !== undefined) return 'revoked'
  if (expiresAt <= now) return 'expired'
  return suspendedAt === undefined ? 'active' : 'suspended'
}

const newModel = () => ({ keys: [] as { token: string; previous?: string; key: ApiKey }[] })
type Known = ReturnType<typeof newModel>['keys'][number]

/** After `reopen`, and if the clock steps back, a new id can be smaller than an old one. */
function inOrder(keys: readonly Known[]): ApiKey[] {
  return keys.map(({ key }) => key).sort((one, other) => (one.id < other.id ? -1 : 1))
}

function commandsOf(fc: FastCheck, on: On<ReturnType<typeof newModel>, Keys>) {
  const onKey = <Value>(
    name: string,
    values: Arbitrary<Value>,
    run: (one: Known, store: Keys, value: Value) => unknown,
  ) =>
    on(name, fc.record({ index: fc.nat(), value: values }), ({ keys }, store, { index, value }) => {
      const one = keys[index % keys.length]
      return one && run(one, store, value)
    })
  const find = async ({ token, previous, key }: Known, store: Keys) => {
    const now = store.clock.now()
    const isLive = stateIn(key, now) === 'active'
    await store.returns('find', [token], isLive ? key : undefined)
    if (previous === undefined) return
    const tokenExpiresAt = key.previousTokenExpiresAt ?? 0
    await store.returns('find', [previous], isLive && tokenExpiresAt > now ? { ...key, tokenExpiresAt } : undefined)
  }
  const nothing = fc.constant(undefined)
  const unknown = fc.constantFrom('', 'key_', '%', '_', "' OR '1'='1", '🐕', '\u0000', '\ud800')
  const frequent = [
    on('issue', issues(fc), async ({ keys }, store, options) => keys.push(await issue(store, options))),
    onKey('find', nothing, find),
    onKey('update', changes(fc), async (one, store, changes) => {
      if (one.key.revokedAt !== undefined) return store.returns('update', [one.key.id, changes], undefined)
      const given = Object.entries(changes).filter(([, value]) => value !== undefined)
      const members = Object.entries({ ...one.key, ...Object.fromEntries(given) })
      one.key = Object.fromEntries(members.filter(([, value]) => value !== null)) as unknown as ApiKey
      await store.returns('update', [one.key.id, changes], one.key)
      await find(one, store)
    }),
  ]
  return [
    ...frequent,
    ...frequent,
    onKey('find a wrong token', nothing, async ({ token }, store) => {
      for (const wrong of await wrongTokens(token)) await store.returns('find', [wrong], undefined)
    }),
    onKey('revoke', nothing, async (one, store) => {
      await store.returns('revoke', [one.key.id], one.key.revokedAt === undefined)
      one.key = { revokedAt: store.clock.now(), ...one.key }
      await find(one, store)
    }),
    onKey('rotate', fc.constantFrom(0, 50), async (one, store, overlapSeconds) => {
      if (one.key.revokedAt !== undefined) return store.returns('rotate', [one.key.id, { overlapSeconds }], undefined)
      const { token, key } = await rotate(store, one.key.id, overlapSeconds)
      const { previousTokenExpiresAt: _, ...others } = one.key
      const ends = overlapSeconds > 0 && { previousTokenExpiresAt: store.clock.now() + overlapSeconds * 1_000 }
      Object.assign(one, { previous: one.token, token, key: { ...others, ...ends } })
      equal('rotate(…).key', key, one.key)
      await find(one, store)
    }),
    onKey('suspend', nothing, async (one, store) => {
      const isRevoked = one.key.revokedAt !== undefined
      if (!isRevoked) one.key = { suspendedAt: store.clock.now(), ...one.key }
      await store.returns('suspend', [one.key.id], isRevoked ? undefined : one.key)
      await find(one, store)
    }),
    onKey('resume', nothing, async (one, store) => {
      const isRevoked = one.key.revokedAt !== undefined
      const { suspendedAt: _, ...others } = one.key
      if (!isRevoked) one.key = others
      await store.returns('resume', [one.key.id], isRevoked ? undefined : one.key)
      await find(one, store)
    }),
    on('remove', fc.nat(), async ({ keys }, store, index) => {
      const one = keys[index % keys.length]
      if (one === undefined) return
      const hasEnded = ['expired', 'revoked'].includes(stateIn(one.key, store.clock.now()))
      await store.returns('remove', [one.key.id], hasEnded)
      if (hasEnded) keys.splice(keys.indexOf(one), 1)
      await store.returns('find', [one.token], hasEnded ? undefined : await store.call('find', one.token))
    }),
    on('calls with an unknown id', unknown, async (_, store, id) => {
      for (const name of ['get', 'suspend', 'resume'] as const) await store.returns(name, [id], undefined)
      await store.returns('update', [id, { plan: 'pro' }], undefined)
      for (const name of ['revoke', 'remove'] as const) await store.returns(name, [id], false)
    }),
    on(
      'list a page',
      fc.record({ limit: fc.integer({ min: 1, max: 4 }), after: fc.nat() }),
      ({ keys }, store, query) => {
        const after = keys[query.after % keys.length]?.key.id ?? ''
        const following = inOrder(keys).filter(({ id }) => id > after)
        return store.returns('list', [{ limit: query.limit, after }], following.slice(0, query.limit))
      },
    ),
    on('list', nothing, ({ keys }, store) => {
      const expected = inOrder(keys)
      return store.returns('list', [EVERY], expected)
    }),
    on('clock.advance', fc.integer({ min: -100_000, max: 100_000 }), (_, { clock }, time) => clock.advance(time)),
    on('reopen', nothing, (_, store) => store.reopen(), 'reopen'),
  ]
}

function issues(fc: FastCheck) {
  const limit = fc.oneof(fc.integer({ min: 1, max: 100 }), fc.constant(Number.MAX_SAFE_INTEGER))
  const start = manualClock().now()
  const options = fc.record(
    {
      plan: fc.oneof(fc.constantFrom('free', 'pro', 'business'), texts(fc)),
      account: texts(fc),
      label: fc.oneof(texts(fc), fc.constant('')),
      limits: fc.record({ perMinute: limit, perDay: limit }),
      access: fc.constantFrom('read', 'write'),
      expiresAt: fc.oneof(fc.integer({ min: start - 1_000, max: start + 100_000 }), fc.constant(2 ** 52)),
    },
    { requiredKeys: ['plan'] },
  )
  return options
}

function changes(fc: FastCheck) {
  const removed = fc.subarray(['account', 'label', 'limits', 'access', 'expiresAt'])
  return fc.tuple(issues(fc), removed, fc.boolean()).map(([{ plan, ...options }, names, hasPlan]): KeyChanges => {
    const changed: KeyChanges = { ...options, ...Object.fromEntries(names.map((name) => [name, null])) }
    return hasPlan ? { ...changed, plan } : changed
  })
}
