import type { Arbitrary } from 'fast-check'
import { defaultPlans } from '../../../model.ts'
import type { IssueOptions, KeyChanges, ManagedKeyStore } from '../../../ports.ts'
import { manualClock } from '../../store/clock.ts'
import { texts } from './arbitraries.ts'
import { type CheckedKeys, checkedKeys, mistakes } from './checked-keys.ts'
import { show } from './report.ts'
import { type FastCheck, type SuiteOptions, suiteOf, type TestRunner, type Use, usesWith } from './runner.ts'

/** The options of {@link keyStoreContract}. */
export type KeyStoreContractOptions = SuiteOptions<ManagedKeyStore>

/**
 * Adds the tests that every {@link ManagedKeyStore} must pass. They need `fast-check`. The first
 * tests have one example for each rule. Then random sequences of calls must have the same results
 * as a plain list of keys. Keys expire by the clock that `open` gets.
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
    const { examples, sequences } = suiteOf(runner, 'keyStoreContract', options, checkedKeys)
    examples(EXAMPLES)
    sequences('gives the same results as a plain list of keys', calls, 40)
  })
}

/**
 * One example for each rule. A common mistake makes one of these short tests fail, before the
 * random sequences run.
 */
const EXAMPLES: Record<string, Use<CheckedKeys>> = {
  'find returns the key of a token': async ({ issue, find, now }) => {
    const limits = { perMinute: 1, perDay: 2 ** 32 }
    await issue({ plan: 'free' })
    await issue({ plan: 'pro', account: 'acme', label: '', limits, expiresAt: now() + 1 })
    await find(1)
    await find(2)
  },
  'compares all characters of a token': async ({ issue, find }) => {
    await issue({ plan: 'free' })
    for (const mistake of mistakes) await find(1, mistake)
  },
  'find returns no key that is revoked': async ({ issue, find, revoke }) => {
    await issue({ plan: 'free' })
    await find(1)
    await revoke(1)
  },
  'revoke returns false for an unknown or revoked key': async ({ issue, revoke }) => {
    await issue({ plan: 'free' })
    await revoke('key_unknown')
    await revoke(1)
    await revoke(1)
  },
  'update does not change members that are absent or undefined': async ({ issue, update, list, now }) => {
    await issue({ plan: 'free', account: 'acme', label: 'desk' })
    await issue({ plan: 'free' })
    await update(1, { plan: 'enterprise', limits: { perMinute: 1, perDay: 2 ** 32 }, label: undefined })
    await update(1, { account: 'other', label: '', expiresAt: now() + 1_000 })
    await list()
  },
  'update removes members that are null': async ({ issue, update }) => {
    const limits = { perMinute: 1, perDay: 2 }
    await issue({ plan: 'enterprise', account: 'acme', label: 'desk', limits })
    await update(1, { plan: 'pro', account: null, label: null, limits: null, expiresAt: null })
  },
  'update changes no key that is revoked or unknown': async ({ issue, update, revoke, list }) => {
    await issue({ plan: 'free' })
    await revoke(1)
    await update(1, { plan: 'pro' })
    await update('key_unknown', { plan: 'pro' })
    await list()
  },
  'find returns no key that has expired': async ({ issue, find, update, setClock, now }) => {
    await issue({ plan: 'free', expiresAt: now() + 1_000 })
    await issue({ plan: 'free', expiresAt: now() })
    await find(1)
    await find(2)
    setClock(now() + 999)
    await find(1)
    setClock(now() + 1)
    await find(1)
    await update(1, { expiresAt: null })
  },
  'list returns the oldest key first': async ({ issue, list, setClock, now }) => {
    for (let i = 0; i < 3; i++) {
      await issue({ plan: 'free' })
      setClock(now() + 1_000)
    }
    await list()
  },
  'list returns revoked keys too': async ({ issue, list, revoke }) => {
    await issue({ plan: 'free' })
    await revoke(1)
    await list()
  },
  'keeps changed keys when the key store is reopened': async ({ issue, update, revoke, reopen, find, list }) => {
    const numbers = Array.from({ length: 30 }, (_, i) => i + 1)
    for (const _ of numbers) await issue({ plan: 'free' })
    await update(1, { plan: 'pro' })
    await revoke(2)
    await reopen()
    for (const number of numbers) await find(number)
    await list()
  },
  'issues different keys to concurrent calls': async ({ issue, keys, find }) => {
    await Promise.all(Array.from({ length: 20 }, (_, i) => issue({ plan: 'free', label: `${i}` })))
    await Promise.all(keys.map(({ number }) => find(number)))
  },
  'only one of several concurrent revoke calls returns true': async ({ issue, lookUp, revoke }) => {
    await issue({ plan: 'free' })
    await Promise.all([...Array.from({ length: 10 }, () => lookUp(1)), revoke(1, 10)])
  },
  'rejects invalid options': async ({ port, checkInvalid, list }) => {
    for (const options of [{}, ...WRONG.map((members) => ({ plan: 'free', ...members }))]) {
      const call = () => port().issue(options as IssueOptions)
      await checkInvalid(`issue(${show(options)})`, call, 'check the options with newKey')
    }
    await list()
  },
  'rejects invalid changes': async ({ port, issue, keys, checkInvalid, list }) => {
    await issue({ plan: 'free' })
    for (const changes of [{ plan: null }, { plan: 'unknown' }, { limits: null }, { id: 'key_other' }, ...WRONG]) {
      const call = () => port().update(keys[0]?.key.id as string, changes as KeyChanges)
      await checkInvalid(`update(the id of key 1, ${show(changes)})`, call, 'check the changes with keyChanges')
    }
    await list()
  },
}

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
/** Each object has one member with an invalid value, which `issue` and `update` must reject. */
const WRONG: object[] = Object.entries(WRONG_VALUES).flatMap(([name, all]) => all.map((value) => ({ [name]: value })))

function calls(fc: FastCheck): Arbitrary<Use<CheckedKeys>>[] {
  const onKey = (use: (checked: CheckedKeys, number: number) => Promise<void>) =>
    usesWith(fc.nat(), async (checked: CheckedKeys, index) => {
      if (checked.keys.length > 0) await use(checked, (index % checked.keys.length) + 1)
    })
  const unknown = fc.constantFrom('', 'key_', '%', '_', "' OR '1'='1", '🐕', '\u0000', '\ud800')
  const issue = usesWith(issues(fc), ({ issue }: CheckedKeys, options) => issue(options))
  const find = onKey(({ find }, number) => find(number))
  const update = changes(fc).chain((changes) => onKey(({ update }, number) => update(number, changes)))
  return [
    // These calls are in the list twice, so that they are chosen more often than the others.
    ...[issue, issue, find, find, update, update],
    fc.constantFrom(...mistakes).chain((mistake) => onKey(({ find }, number) => find(number, mistake))),
    onKey(({ revoke }, number) => revoke(number)),
    usesWith(unknown, ({ update }, id) => update(id, { plan: 'pro' })),
    usesWith(unknown, ({ revoke }, id) => revoke(id)),
    fc.constant(({ list }) => list()),
    usesWith(fc.integer({ min: -100_000, max: 100_000 }), ({ setClock, now }, time) => setClock(now() + time)),
  ]
}

function issues(fc: FastCheck): Arbitrary<IssueOptions> {
  const limit = fc.oneof(fc.integer({ min: 1, max: 100 }), fc.constant(Number.MAX_SAFE_INTEGER))
  const start = manualClock().now()
  const soon = fc.integer({ min: start - 1_000, max: start + 100_000 })
  const options = fc.record(
    {
      plan: fc.oneof(fc.constantFrom('free', 'pro', 'business'), texts(fc)),
      account: texts(fc),
      label: fc.oneof(texts(fc), fc.constant('')),
      limits: fc.record({ perMinute: limit, perDay: limit }),
      expiresAt: fc.oneof(soon, fc.constantFrom(start, 2 ** 52, -(2 ** 52))),
    },
    { requiredKeys: ['plan'] },
  )
  // `issue` rejects an unknown plan unless the key has limits.
  return options.map((wanted) => (wanted.limits ? wanted : { ...wanted, plan: knownPlan(wanted.plan) }))
}

function changes(fc: FastCheck): Arbitrary<KeyChanges> {
  const removed = fc.subarray(['account', 'label', 'limits', 'expiresAt'])
  return fc.tuple(issues(fc), removed, fc.boolean()).map(([{ plan, ...options }, names, hasPlan]) => {
    const changed: KeyChanges = { ...options, ...Object.fromEntries(names.map((name) => [name, null])) }
    if (changed.limits === null) return { ...changed, plan: knownPlan(plan) }
    return hasPlan ? { ...changed, plan } : changed
  })
}

function knownPlan(plan: string): string {
  return Object.hasOwn(defaultPlans, plan) ? plan : 'pro'
}
