import type { Arbitrary, AsyncCommand } from 'fast-check'
import { newKey } from '../../keys/new-key.ts'
import type { ApiKey } from '../../model.ts'
import type { IssueOptions, ManagedKeyStore, MaybePromise } from '../../ports.ts'
import type { ManualClock } from '../clock.ts'
import { texts } from './arbitraries.ts'
import { check, checkEqual, show } from './assert.ts'
import { command } from './command.ts'
import type { FastCheck } from './fast-check.ts'

interface Issued {
  readonly token: string
  key: ApiKey
}

/** The expected state of a key store: every issued key with its token. */
export interface KeyModel {
  readonly clock: ManualClock
  /** The keys in the order of their issue. */
  readonly keys: Issued[]
}
type KeyCommand = AsyncCommand<KeyModel, ManagedKeyStore>

/** Returns generators of calls to a key store. */
export function keyCommands(fc: FastCheck): Arbitrary<KeyCommand>[] {
  return [
    issues(fc).map(issue),
    fc.nat().map(find),
    fc.nat().map(find),
    fc.tuple(fc.nat(), fc.constantFrom(...mistakes)).map(([index, mistake]) => findMistyped(index, mistake)),
    fc.nat().map(revoke),
    fc.constantFrom('', 'key_', '%', '_', "' OR '1'='1", '🐕', '\u0000', '\ud800').map(revokeUnknown),
    fc.constant(list),
    fc.integer({ min: -100_000, max: 100_000 }).map(step),
  ]
}

/** Options of a new key. `expiresIn` is in milliseconds from the time of issue. */
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
  return command(`issue ${show({ ...wanted, expiresIn })}`, async ({ clock, keys }, store) => {
    const options = { ...wanted, ...(expiresIn !== undefined && { expiresAt: clock.now() + expiresIn }) }
    const { token, key } = await store.issue(options)
    checkEqual(key, { ...options, id: key.id, createdAt: clock.now() }, 'issue')
    const isNew = keys.every((other) => other.token !== token && other.key.id !== key.id)
    check(isNew, 'issue: a token or an id came twice')
    keys.push({ token, key: { ...key } })
  })
}

/** Returns a command that uses an issued key. Sequences skip the command as long as there is no key. */
function useKey(
  text: string,
  index: number,
  use: (issued: Issued, clock: ManualClock, store: ManagedKeyStore) => Promise<void>,
): KeyCommand {
  return {
    check: ({ keys }) => keys.length > 0,
    run: ({ clock, keys }, store) => use(keys[index % keys.length] as Issued, clock, store),
    toString: () => text,
  }
}

function find(index: number): KeyCommand {
  return useKey(`find the token number ${index}`, index, async ({ token, key }, clock, store) => {
    const found = await store.find(token)
    const isExpired = key.expiresAt !== undefined && key.expiresAt <= clock.now()
    const expected = key.revokedAt !== undefined || (isExpired && found === undefined) ? undefined : key
    checkEqual(found, expected, 'find')
  })
}

/** Ways to make an invalid token from a valid one. */
const MISTAKES = {
  'last character': (token) => token.slice(0, -1) + (token.endsWith('a') ? 'b' : 'a'),
  'one too many': (token) => `${token}0`,
  'one too few': (token) => token.slice(0, -1),
  'upper case': (token) => token.toUpperCase(),
  unknown: async () => (await newKey({ plan: 'free' }, 0)).token,
  empty: () => '',
  hash: async () => (await newKey({ plan: 'free' }, 0)).hash,
} satisfies Record<string, (token: string) => MaybePromise<string>>
type Mistake = keyof typeof MISTAKES
/** The names of all mistakes. */
export const mistakes = Object.keys(MISTAKES) as Mistake[]

function findMistyped(index: number, mistake: Mistake): KeyCommand {
  const text = `find the token number ${index} with a mistake: ${mistake}`
  return useKey(text, index, ({ token }, _clock, store) => checkMistake(store, token, mistake))
}

/** Checks that the store finds no key for a token with this mistake. */
export async function checkMistake(store: ManagedKeyStore, token: string, mistake: Mistake): Promise<void> {
  const mistyped = await MISTAKES[mistake](token)
  checkEqual(await store.find(mistyped), undefined, `find a token with a mistake: ${mistake}`)
}

function revoke(index: number): KeyCommand {
  return useKey(`revoke the key number ${index}`, index, async (issued, clock, store) => {
    const isLive = issued.key.revokedAt === undefined
    checkEqual(await store.revoke(issued.key.id), isLive, 'revoke')
    if (isLive) issued.key = { ...issued.key, revokedAt: clock.now() }
    checkEqual(await store.find(issued.token), undefined, 'find, right after revoke')
  })
}

function revokeUnknown(id: string): KeyCommand {
  const text = `revoke ${show(id)}`
  return command(text, async (_model, store) => checkEqual(await store.revoke(id), false, text))
}

const list: KeyCommand = command('list', async ({ keys }, store) => {
  const listed = await store.list()
  const expected = keys.map(({ key }) => key)
  checkEqual(listed, expected, 'list')
  const text = show(listed)
  check(!keys.some(({ token }) => text.includes(token)), 'list: a token is in it')
})

function step(milliseconds: number): KeyCommand {
  return command(`the clock steps by ${milliseconds} ms`, async ({ clock }) => clock.advance(milliseconds))
}
