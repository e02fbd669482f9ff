import type { Arbitrary } from 'fast-check'
import { hashToken } from '../../../keys/token.ts'
import { type ApiKey, defaultPlans } from '../../../model.ts'
import type { IssuedKey, IssueOptions, KeyChanges, ManagedKeyStore } from '../../../ports.ts'
import { manualClock } from '../../store/clock.ts'
import { equal, show } from './report.ts'
import { type FastCheck, type On, type Store, type SuiteOptions, suiteOf, type TestRunner } from './suite.ts'
import { texts } from './values.ts'

/** The options of {@link keyStoreContract}. */
export type KeyStoreContractOptions = SuiteOptions<ManagedKeyStore>
type Keys = Store<ManagedKeyStore>

const LIMITS = { perMinute: 1, perDay: 2 ** 32 }
const ALL = { plan: 'enterprise', account: 'acme', label: 'desk', limits: LIMITS }

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
      await store.returns('list', [], [changed, other.key])
    })
    rule('update removes members that are null', async (store) => {
      const { key } = await issue(store, ALL)
      const changed = { id: key.id, createdAt: key.createdAt, plan: 'pro' }
      const changes = { plan: 'pro', account: null, label: null, limits: null, expiresAt: null }
      await store.returns('update', [key.id, changes], changed)
      await store.returns('list', [], [changed])
    })
    rule('update returns undefined for an unknown or revoked key', async (store) => {
      const { token, key } = await issue(store)
      await store.returns('update', ['key_unknown', { plan: 'pro' }], undefined)
      await store.call('revoke', key.id)
      await store.returns('update', [key.id, { plan: 'pro' }], undefined)
      await store.returns('find', [token], undefined)
      await store.returns('list', [], [{ ...key, revokedAt: store.clock.now() }])
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
      await store.returns('list', [], expected)
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
      const [changed, revoked, ...others] = all as [IssuedKey, IssuedKey]
      await store.call('update', changed.key.id, { plan: 'pro' })
      await store.call('revoke', revoked.key.id)
      const listed = await store.call('list')
      await store.reopen()
      await store.returns('find', [changed.token], { ...changed.key, plan: 'pro' })
      await store.returns('find', [revoked.token], undefined)
      for (const { token, key } of others as IssuedKey[]) await store.returns('find', [token], key)
      await store.returns('list', [], listed)
    }
    rule('keeps changed keys when the key store is opened again', reopened, ['reopen'])
    rule('issue rejects invalid options', async (store) => {
      for (const invalid of [{}, ...WRONG.map((members) => ({ plan: 'free', ...members }))])
        await rejects(`issue(${show(invalid)})`, store.call('issue', invalid as IssueOptions))
      await store.returns('list', [], [])
    })
    rule('update rejects invalid changes', async (store) => {
      const { key } = await issue(store)
      for (const invalid of [{ plan: null }, { plan: 'unknown' }, { limits: null }, { id: 'key_other' }, ...WRONG])
        await rejects(`update(${show(invalid)})`, store.call('update', key.id, invalid as KeyChanges))
      await store.returns('list', [], [key])
    })

    modelTest('random calls give the same results as a plain list of keys', newModel, commandsOf)
  })
}

const isEmpty = async (store: Keys) => equal('a new key store must be empty: list()', await store.call('list'), [])

const WRONG_LIMITS = [0, 1.5, 2 ** 53, undefined]
const WRONG_VALUES: Record<keyof IssueOptions, readonly unknown[]> = {
  plan: ['', 7, 'a\u0000b', 'a\ud800b', 'enterprise'],
  account: ['', '\udfff'],
  label: [7, 'a\u0000b', 'a\ud800b'],
  limits: WRONG_LIMITS.flatMap((wrong) => [
    { perMinute: wrong, perDay: 1 },
    { perMinute: 1, perDay: wrong },
  ]),
  expiresAt: [1.5, Number.NaN, new Date(0)],
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

/** Issues a key, which must have the options, an id and the time, and not the token. */
async function issue(store: Keys, options: IssueOptions = { plan: 'free' }): Promise<IssuedKey> {
  const issued = await store.call('issue', options)
  const { token, key } = issued ?? {}
  equal(`issue(${show(options)}): the types of { token, key }`, [typeof token, typeof key?.id], ['string', 'string'])
  equal(`issue(${show(options)}).key`, key, { ...options, id: key.id, createdAt: store.clock.now() })
  return { token, key }
}

const newModel = () => ({ keys: [] as { readonly token: string; key: ApiKey }[] })
type Known = ReturnType<typeof newModel>['keys'][number]

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
  const find = ({ token, key }: Known, store: Keys) => {
    const isLive = key.revokedAt === undefined && (key.expiresAt ?? Number.POSITIVE_INFINITY) > store.clock.now()
    return store.returns('find', [token], isLive ? key : undefined)
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
    on('update and revoke', unknown, async (_, store, id) => {
      await store.returns('update', [id, { plan: 'pro' }], undefined)
      await store.returns('revoke', [id], false)
    }),
    on('list', nothing, ({ keys }, store) => {
      const expected = keys.map(({ key }) => key)
      return store.returns('list', [], expected)
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
      expiresAt: fc.oneof(fc.integer({ min: start - 1_000, max: start + 100_000 }), fc.constant(2 ** 52)),
    },
    { requiredKeys: ['plan'] },
  )
  // `issue` rejects an unknown plan unless the key has limits.
  return options.map((wanted): IssueOptions => (wanted.limits ? wanted : { ...wanted, plan: knownPlan(wanted.plan) }))
}

function changes(fc: FastCheck) {
  const removed = fc.subarray(['account', 'label', 'limits', 'expiresAt'])
  return fc.tuple(issues(fc), removed, fc.boolean()).map(([{ plan, ...options }, names, hasPlan]): KeyChanges => {
    const changed: KeyChanges = { ...options, ...Object.fromEntries(names.map((name) => [name, null])) }
    if (changed.limits === null) return { ...changed, plan: knownPlan(plan) }
    return hasPlan ? { ...changed, plan } : changed
  })
}

const knownPlan = (plan: string) => (Object.hasOwn(defaultPlans, plan) ? plan : 'pro')
