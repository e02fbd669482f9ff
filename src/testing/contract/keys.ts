import type { Arbitrary, AsyncCommand } from 'fast-check'
import type { ApiKey } from '../../model.ts'
import { newKey } from '../../new-key.ts'
import type { Clock, IssueOptions, ManagedKeyStore } from '../../ports.ts'
import { type ManualClock, manualClock } from '../clock.ts'
import { texts } from './arbitraries.ts'
import { check, checkEqual, checkRejected, show } from './assert.ts'
import { type FastCheck, type Opened, type TestRunner, withPort } from './runner.ts'

/** The options of {@link keyStoreContract}. */
export interface KeyStoreContractOptions {
  /** Names the store in the report of the tests. */
  readonly name: string
  /** Opens a store without any key, and that takes its time from `clock`. */
  open(clock: Clock): Promise<Opened<ManagedKeyStore>>
  /** How many sequences of commands are tried. @default 30 */
  readonly runs?: number | undefined
}

/**
 * The tests that every {@link ManagedKeyStore} must pass. They need `fast-check`.
 *
 * Random sequences of calls are compared with a plain list of keys. A key that has expired may be found or not: the core
 * holds `expiresAt` against the clock itself.
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
    runner.test('answers as a plain list of keys does', async () => {
      const fc = await import('fast-check')
      const sequences = fc.commands(keyCommands(fc), { maxCommands: 40, size: 'max' })
      const property = fc.asyncProperty(sequences, (sequence) => {
        const clock = manualClock()
        const use = (real: ManagedKeyStore) => fc.asyncModelRun(() => ({ model: { clock, keys: [] }, real }), sequence)
        return withPort(() => open(clock), use)
      })
      await fc.assert(property, { numRuns: runs })
    })
    runner.test('refuses options that have no meaning', () => withPort(() => open(manualClock()), refuseWrongOptions))
    runner.test('issues keys at once, each its own', () => withPort(() => open(manualClock()), issueAtOnce))
    runner.test('revokes a key for one caller alone', () => withPort(() => open(manualClock()), revokeAtOnce))
  })
}

interface Issued {
  readonly token: string
  key: ApiKey
}

interface KeyModel {
  readonly clock: ManualClock
  /** In the order of their issue. */
  readonly keys: Issued[]
}
type KeyCommand = AsyncCommand<KeyModel, ManagedKeyStore>

function keyCommands(fc: FastCheck): Arbitrary<KeyCommand>[] {
  return [
    issues(fc).map(issue),
    fc.nat().map(find),
    fc.nat().map(find),
    fc.tuple(fc.nat(), fc.constantFrom(...MISTAKES)).map(([index, mistake]) => findMistyped(index, mistake)),
    fc.nat().map(revoke),
    fc.constantFrom('', 'key_', '%', '_', "' OR '1'='1", '🐕', '\u0000', '\ud800').map(revokeUnknown),
    fc.constant(list),
    fc.integer({ min: -100_000, max: 100_000 }).map(step),
  ]
}

/** Options of a key; `expiresIn` is counted from the instant of its issue. */
interface Wanted extends Omit<IssueOptions, 'expiresAt'> {
  readonly expiresIn?: number
}

function issues(fc: FastCheck): Arbitrary<Wanted> {
  const limit = fc.oneof(fc.integer({ min: 1, max: 100 }), fc.constant(Number.MAX_SAFE_INTEGER))
  return fc.record(
    {
      plan: fc
        .oneof(fc.constantFrom('free', 'pro', 'business'), texts(fc))
        .map((plan) => (plan === 'enterprise' ? 'pro' : plan)),
      account: texts(fc),
      label: fc.oneof(texts(fc), fc.constant('')),
      limits: fc.record({ perMinute: limit, perDay: limit }),
      expiresIn: fc.oneof(fc.integer({ min: -1_000, max: 100_000 }), fc.constantFrom(0, 2 ** 52, -(2 ** 52))),
    },
    { requiredKeys: ['plan'] },
  )
}

function issue({ expiresIn, ...wanted }: Wanted): KeyCommand {
  return {
    check: () => true,
    async run({ clock, keys }, store) {
      const options = { ...wanted, ...(expiresIn !== undefined && { expiresAt: clock.now() + expiresIn }) }
      const { token, key } = await store.issue(options)
      checkEqual(key, { ...options, id: key.id, createdAt: clock.now() }, 'issue')
      check(
        keys.every((other) => other.token !== token && other.key.id !== key.id),
        'issue: a token or an id came twice',
      )
      keys.push({ token, key: { ...key } })
    },
    toString: () => `issue ${show({ ...wanted, expiresIn })}`,
  }
}

function find(index: number): KeyCommand {
  return {
    check: ({ keys }) => keys.length > 0,
    async run({ clock, keys }, store) {
      const { token, key } = keys[index % keys.length] as Issued
      const found = await store.find(token)
      const isExpired = key.expiresAt !== undefined && key.expiresAt <= clock.now()
      const expected = key.revokedAt !== undefined || (isExpired && found === undefined) ? undefined : key
      checkEqual(found, expected, 'find')
    },
    toString: () => `find the token number ${index}`,
  }
}

const MISTAKES = ['last character', 'one too many', 'one too few', 'upper case', 'unknown', 'empty', 'hash'] as const

function findMistyped(index: number, mistake: (typeof MISTAKES)[number]): KeyCommand {
  return {
    check: ({ keys }) => keys.length > 0,
    async run({ keys }, store) {
      const { token } = keys[index % keys.length] as Issued
      checkEqual(await store.find(await mistype(token, mistake)), undefined, `find a token with a mistake: ${mistake}`)
    },
    toString: () => `find the token number ${index} with a mistake: ${mistake}`,
  }
}

async function mistype(token: string, mistake: (typeof MISTAKES)[number]): Promise<string> {
  switch (mistake) {
    case 'last character':
      return token.slice(0, -1) + (token.endsWith('a') ? 'b' : 'a')
    case 'one too many':
      return `${token}0`
    case 'one too few':
      return token.slice(0, -1)
    case 'upper case':
      return token.toUpperCase()
    case 'unknown':
      return (await newKey({ plan: 'free' }, 0)).token
    case 'empty':
      return ''
    case 'hash':
      return (await newKey({ plan: 'free' }, 0)).hash
  }
}

function revoke(index: number): KeyCommand {
  return {
    check: ({ keys }) => keys.length > 0,
    async run({ clock, keys }, store) {
      const issued = keys[index % keys.length] as Issued
      const isLive = issued.key.revokedAt === undefined
      checkEqual(await store.revoke(issued.key.id), isLive, 'revoke')
      if (isLive) issued.key = { ...issued.key, revokedAt: clock.now() }
      checkEqual(await store.find(issued.token), undefined, 'find, right after revoke')
    },
    toString: () => `revoke the key number ${index}`,
  }
}

function revokeUnknown(id: string): KeyCommand {
  return {
    check: () => true,
    async run(_model, store) {
      checkEqual(await store.revoke(id), false, `revoke ${show(id)}`)
    },
    toString: () => `revoke ${show(id)}`,
  }
}

const list: KeyCommand = {
  check: () => true,
  async run({ keys }, store) {
    const listed = await store.list()
    checkEqual(
      listed,
      keys.map(({ key }) => key),
      'list',
    )
    const text = show(listed)
    check(
      keys.every(({ token }) => !text.includes(token)),
      'list: a token is in it',
    )
  },
  toString: () => 'list',
}

function step(milliseconds: number): KeyCommand {
  return {
    check: () => true,
    run: async ({ clock }) => clock.advance(milliseconds),
    toString: () => `the clock steps by ${milliseconds} ms`,
  }
}

/** Each is wrong in one option. */
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
  checkEqual(
    found,
    issued.map(({ key }) => key),
    'find, after keys were issued at once',
  )
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
