import type { Arbitrary, AsyncCommand } from 'fast-check'
import { newKey } from '../../keys/new-key.ts'
import type { ApiKey } from '../../model.ts'
import type { IssueOptions, ManagedKeyStore } from '../../ports.ts'
import type { ManualClock } from '../clock.ts'
import { texts } from './arbitraries.ts'
import { check, checkEqual, show } from './assert.ts'
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
    fc.tuple(fc.nat(), fc.constantFrom(...MISTAKES)).map(([index, mistake]) => findMistyped(index, mistake)),
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

/** Ways to make an invalid token from a valid one. */
export const MISTAKES = [
  'last character',
  'one too many',
  'one too few',
  'upper case',
  'unknown',
  'empty',
  'hash',
] as const
type Mistake = (typeof MISTAKES)[number]

function findMistyped(index: number, mistake: Mistake): KeyCommand {
  return {
    check: ({ keys }) => keys.length > 0,
    async run({ keys }, store) {
      const { token } = keys[index % keys.length] as Issued
      await checkMistake(store, token, mistake)
    },
    toString: () => `find the token number ${index} with a mistake: ${mistake}`,
  }
}

/** Checks that the store finds no key for a token with this mistake. */
export async function checkMistake(store: ManagedKeyStore, token: string, mistake: Mistake): Promise<void> {
  checkEqual(await store.find(await mistype(token, mistake)), undefined, `find a token with a mistake: ${mistake}`)
}

async function mistype(token: string, mistake: Mistake): Promise<string> {
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
