import type { Arbitrary } from 'fast-check'
import { defaultPlans } from '../../model.ts'
import type { IssueOptions, KeyChanges, ManagedKeyStore } from '../../ports.ts'
import { texts } from './arbitraries.ts'
import { type CheckedKeys, checkedKeys, mistakes } from './checked-keys.ts'
import { type Steps, show } from './report.ts'
import { type FastCheck, type SuiteOptions, suiteOf, type TestRunner, type Use, usesWith } from './runner.ts'

/** The options of {@link keyStoreContract}. */
export type KeyStoreContractOptions = SuiteOptions<ManagedKeyStore>

/**
 * Adds the tests that every {@link ManagedKeyStore} must pass. They need `fast-check`. The first tests have one example for each
 * rule. Then random sequences of calls must have the same results as a plain list of keys. `find` may return an expired key: the
 * core checks `expiresAt` too.
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

/** One example for each rule: a common mistake then fails a short test first, before the random ones. */
const EXAMPLES: Record<string, Use<CheckedKeys>> = {
  'find returns the key of a token': async ({ issue, find, now }) => {
    await issue({ plan: 'free' })
    await issue({
      plan: 'pro',
      account: 'acme',
      label: '',
      limits: { perMinute: 1, perDay: 2 ** 32 },
      expiresAt: now() + 1,
    })
    await find(1)
    await find(2)
  },
  'compares all characters of a token': async ({ issue, findMistyped }) => {
    await issue({ plan: 'free' })
    for (const mistake of mistakes) await findMistyped(1, mistake)
  },
  'find returns no key that is revoked': async ({ issue, find, revoke }) => {
    await issue({ plan: 'free' })
    await find(1)
    await revoke(1)
  },
  'revoke returns true only for a key that it has revoked': async ({ issue, revoke, revokeUnknown }) => {
    await issue({ plan: 'free' })
    await revokeUnknown('key_unknown')
    await revoke(1)
    await revoke(1)
  },
  'update changes only the members that it gets': async ({ issue, update, list, now }) => {
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
  'update changes no key that is revoked or unknown': async ({ issue, update, updateUnknown, revoke, list }) => {
    await issue({ plan: 'free' })
    await revoke(1)
    await update(1, { plan: 'pro' })
    await updateUnknown('key_unknown')
    await list()
  },
  'list returns the oldest key first': async ({ issue, list, step }) => {
    for (let i = 0; i < 3; i++) {
      await issue({ plan: 'free' })
      step(1_000)
    }
    await list()
  },
  'list returns revoked keys too': async ({ issue, list, revoke }) => {
    await issue({ plan: 'free' })
    await revoke(1)
    await list()
  },
  'keeps keys and their changes when it is opened again': async ({ issue, update, revoke, reopen, find, list }) => {
    const numbers = Array.from({ length: 30 }, (_, i) => i + 1)
    for (const _ of numbers) await issue({ plan: 'free' })
    await update(1, { plan: 'pro' })
    await revoke(2)
    await reopen()
    for (const number of numbers) await find(number)
    await list()
  },
  'issues different keys to concurrent calls': async ({ issue, find }) => {
    const issued = await Promise.all(Array.from({ length: 20 }, (_, i) => issue({ plan: 'free', label: `${i}` })))
    await Promise.all(issued.map(({ number }) => find(number)))
  },
  'only one of several concurrent revoke calls returns true': revokeAtOnce,
  'rejects invalid options': refuseWrongOptions,
  'rejects invalid changes': refuseWrongChanges,
}

const WRONG_OPTIONS: readonly object[] = [
  {},
  { plan: '' },
  { plan: 7 },
  { plan: 'a\u0000b' },
  { plan: 'a\ud800b' },
  { plan: 'enterprise' },
  { plan: 'free', account: '' },
  { plan: 'free', account: '\udfff' },
  { plan: 'free', label: 7 },
  { plan: 'free', label: 'a\u0000b' },
  { plan: 'free', label: 'a\ud800b' },
  { plan: 'free', limits: { perMinute: 0, perDay: 1 } },
  { plan: 'free', limits: { perMinute: 1 } },
  { plan: 'free', limits: { perMinute: 1, perDay: 1.5 } },
  { plan: 'free', limits: { perMinute: 1, perDay: 2 ** 53 } },
  { plan: 'free', expiresAt: 1.5 },
  { plan: 'free', expiresAt: Number.NaN },
  { plan: 'free', expiresAt: new Date(0) },
]

async function refuseWrongOptions({ store, steps, list }: CheckedKeys): Promise<void> {
  for (const options of WRONG_OPTIONS) {
    const sentence = `issue(${show(options)}) did not throw invalid_option: call newKey, which checks the options`
    await checkInvalidOption(steps, () => store.issue(options as IssueOptions), sentence)
  }
  await list()
}

async function checkInvalidOption(steps: Steps, call: () => Promise<unknown>, sentence: string): Promise<void> {
  const result: unknown = await (async () => call())().catch((error) => error)
  const isInvalidOption = result instanceof Error && 'code' in result && result.code === 'invalid_option'
  const received = result instanceof Error ? `${result.name}: ${result.message}` : show(result)
  steps.check(isInvalidOption, sentence, 'a PetStoreError with the code invalid_option', received)
}

const WRONG_CHANGES: readonly object[] = [
  { plan: null },
  { plan: 'enterprise' },
  { plan: 'unknown' },
  { limits: null },
  { limits: { perMinute: 0, perDay: 1 } },
  { account: '' },
  { label: 'a\u0000b' },
  { expiresAt: 1.5 },
  { id: 'key_other' },
]

async function refuseWrongChanges({ store, steps, issue, list }: CheckedKeys): Promise<void> {
  const { key } = await issue({ plan: 'free' })
  for (const changes of WRONG_CHANGES) {
    const sentence = `update(the id of key 1, ${show(changes)}) did not throw invalid_option: call keyChanges, which checks the changes`
    await checkInvalidOption(steps, () => store.update(key.id, changes as KeyChanges), sentence)
  }
  await list()
}

async function revokeAtOnce({ store, steps, issue }: CheckedKeys): Promise<void> {
  const { token, key } = await issue({ plan: 'free' })
  const find = (rule: string) => steps.call('find(the token of key 1)', () => store.find(token), rule, show)
  const revoke = () => steps.call('revoke(the id of key 1)', () => store.revoke(key.id), 'it returns true or false')
  const looking = Promise.all(Array.from({ length: 10 }, () => find('the key is valid, or just revoked')))
  const revoked = await Promise.all(Array.from({ length: 10 }, revoke))
  const times = revoked.filter(Boolean).length
  const sentence = `revoke returned true ${times} times for 10 calls at once: only one of them has revoked the key`
  steps.check(times === 1, sentence, 'true 1 time', `true ${times} times`)
  await looking
  const found = await find('for no key, find returns undefined')
  steps.check(!found, 'find(the token of key 1) returned a key: it is revoked', 'undefined', found)
}

function calls(fc: FastCheck): Arbitrary<Use<CheckedKeys>>[] {
  const onKey = (use: (checked: CheckedKeys, number: number) => Promise<void>) =>
    usesWith(fc.nat(), async (checked: CheckedKeys, index) => {
      if (checked.keys.length > 0) await use(checked, (index % checked.keys.length) + 1)
    })
  const unknown = fc.constantFrom('', 'key_', '%', '_', "' OR '1'='1", '🐕', '\u0000', '\ud800')
  const issue = usesWith(issues(fc), ({ issue, now }: CheckedKeys, optionsAt) => issue(optionsAt(now())))
  const find = onKey(({ find }, number) => find(number))
  const update = changes(fc).chain((changesAt) => onKey(({ update, now }, number) => update(number, changesAt(now()))))
  return [
    // These calls are in the list twice, so that they are chosen more often than the others.
    ...[issue, issue, find, find, update, update],
    fc.constantFrom(...mistakes).chain((mistake) => onKey(({ findMistyped }, number) => findMistyped(number, mistake))),
    onKey(({ revoke }, number) => revoke(number)),
    usesWith(unknown, ({ updateUnknown }, id) => updateUnknown(id)),
    usesWith(unknown, ({ revokeUnknown }, id) => revokeUnknown(id)),
    fc.constant(({ list }) => list()),
    usesWith(fc.integer({ min: -100_000, max: 100_000 }), ({ step }, milliseconds) => step(milliseconds)),
  ]
}

/** Generates functions that get the time and return options for `issue`. */
function issues(fc: FastCheck): Arbitrary<(now: number) => IssueOptions> {
  const limit = fc.oneof(fc.integer({ min: 1, max: 100 }), fc.constant(Number.MAX_SAFE_INTEGER))
  const options = fc.record(
    {
      plan: fc.oneof(fc.constantFrom('free', 'pro', 'business'), texts(fc)),
      account: texts(fc),
      label: fc.oneof(texts(fc), fc.constant('')),
      limits: fc.record({ perMinute: limit, perDay: limit }),
      expiresIn: fc.oneof(fc.integer({ min: -1_000, max: 100_000 }), fc.constantFrom(0, 2 ** 52, -(2 ** 52))),
    },
    { requiredKeys: ['plan'] },
  )
  return options.map(({ expiresIn, ...wanted }) => {
    // `issue` rejects an unknown plan unless the key has limits.
    const plan = wanted.limits ? wanted.plan : knownPlan(wanted.plan)
    return (now) => ({ ...wanted, plan, ...(expiresIn !== undefined && { expiresAt: now + expiresIn }) })
  })
}

/** Generates functions that get the time and return changes for `update`. */
function changes(fc: FastCheck): Arbitrary<(now: number) => KeyChanges> {
  const removed = fc.subarray(['account', 'label', 'limits', 'expiresAt'])
  return fc.tuple(issues(fc), removed, fc.boolean()).map(([optionsAt, names, hasPlan]) => (now) => {
    const { plan, ...options } = optionsAt(now)
    const changed: KeyChanges = { ...options, ...Object.fromEntries(names.map((name) => [name, null])) }
    if (changed.limits === null) return { ...changed, plan: knownPlan(plan) }
    return hasPlan ? { ...changed, plan } : changed
  })
}

function knownPlan(plan: string): string {
  return Object.hasOwn(defaultPlans, plan) ? plan : 'pro'
}
