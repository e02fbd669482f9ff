import type { Clock, IssueOptions, ManagedKeyStore } from '../../ports.ts'
import { manualClock } from '../clock.ts'
import { checkEqual, checkRejected, show } from './assert.ts'
import { fastCheckOf } from './fast-check.ts'
import { checkMistake, type KeyModel, keyCommands, mistakes } from './key-commands.ts'
import { type Opened, type TestRunner, withPort } from './runner.ts'

/** The options of {@link keyStoreContract}. */
export interface KeyStoreContractOptions {
  /** The name of the key store in test titles. */
  readonly name: string
  /** Opens a key store without keys that reads the time from `clock`. */
  open(clock: Clock): Promise<Opened<ManagedKeyStore>>
  /** The number of random sequences of calls. @default 30 */
  readonly runs?: number | undefined
}

/**
 * Adds the tests that every {@link ManagedKeyStore} must pass. They need `fast-check`.
 *
 * The results of random sequences of calls must be those of a plain list of keys. The store may return an expired key or not,
 * because the core checks `expiresAt` too.
 *
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
  const { name, open, runs = 30 } = options
  runner.describe(`key store: ${name}`, () => {
    runner.test('gives the same results as a plain list of keys', async () => {
      const fc = await fastCheckOf(runner)
      const sequences = fc.commands(keyCommands(fc), { maxCommands: 40, size: 'max' })
      const property = fc.asyncProperty(sequences, (sequence) => {
        const clock = manualClock()
        const model: KeyModel = { clock, keys: [] }
        const use = (real: ManagedKeyStore) => fc.asyncModelRun(() => ({ model, real }), sequence)
        return withPort(() => open(clock), use)
      })
      await fc.assert(property, { numRuns: runs })
    })
    runner.test('compares all characters of a token', () => withPort(() => open(manualClock()), refuseMistakes))
    runner.test('rejects invalid options', () => withPort(() => open(manualClock()), refuseWrongOptions))
    runner.test('issues different keys to concurrent calls', () => withPort(() => open(manualClock()), issueAtOnce))
    runner.test('only one of several concurrent revoke calls returns true', () =>
      withPort(() => open(manualClock()), revokeAtOnce),
    )
  })
}

async function refuseMistakes(store: ManagedKeyStore): Promise<void> {
  const { token } = await store.issue({ plan: 'free' })
  for (const mistake of mistakes) await checkMistake(store, token, mistake)
}

/** Options that `issue` must reject. */
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

async function refuseWrongOptions(store: ManagedKeyStore): Promise<void> {
  for (const options of WRONG_OPTIONS) {
    await checkRejected(async () => store.issue(options as IssueOptions), 'invalid_option', `issue ${show(options)}`)
  }
  checkEqual(await store.list(), [], 'list, after options were refused')
}

async function issueAtOnce(store: ManagedKeyStore): Promise<void> {
  const issued = await Promise.all(Array.from({ length: 20 }, (_, i) => store.issue({ plan: 'free', label: `${i}` })))
  const found = await Promise.all(issued.map(async ({ token }) => store.find(token)))
  const expected = issued.map(({ key }) => key)
  checkEqual(found, expected, 'find, after keys were issued at once')
  checkEqual(new Set((await store.list()).map(({ id }) => id)).size, 20, 'list, after 20 keys were issued at once')
}

async function revokeAtOnce(store: ManagedKeyStore): Promise<void> {
  const { token, key } = await store.issue({ plan: 'free' })
  const looking = Promise.all(Array.from({ length: 10 }, async () => store.find(token)))
  const revoked = await Promise.all(Array.from({ length: 10 }, () => store.revoke(key.id)))
  checkEqual(revoked.filter(Boolean).length, 1, 'revoke, ten times at once: how many did it')
  await looking
  checkEqual(await store.find(token), undefined, 'find, after revoke')
}
