import { hashToken } from '../../keys/token.ts'
import type { ApiKey } from '../../model.ts'
import type { IssueOptions, ManagedKeyStore } from '../../ports.ts'
import type { ManualClock } from '../clock.ts'
import { difference, few, recordSteps, type Steps, show } from './report.ts'

/** A key that was issued. Reports call it by its number. */
export interface Issued {
  readonly number: number
  readonly token: string
  readonly key: ApiKey
}

/** A key store, with checks that its results are those of a plain list. */
export interface CheckedKeys {
  /** The key store without checks. */
  readonly store: ManagedKeyStore
  readonly steps: Steps
  /** The keys that the store must have, in the order of their issue. */
  readonly keys: readonly Issued[]
  issue(options: IssueOptions): Promise<Issued>
  find(number: number): Promise<void>
  /** Checks that no key is found for a token that differs from a valid one. */
  findMistyped(number: number, mistake: Mistake): Promise<void>
  revoke(number: number): Promise<void>
  revokeUnknown(id: string): Promise<void>
  list(): Promise<void>
  now(): number
  step(milliseconds: number): void
}

/** Ways to make an invalid token from a valid one. */
const MISTAKES = {
  'another last character': (token) => token.slice(0, -1) + (token.endsWith('a') ? 'b' : 'a'),
  'one character too many': (token) => `${token}0`,
  'one character too few': (token) => token.slice(0, -1),
  'upper case': (token) => token.toUpperCase(),
  'no character': () => '',
  'its SHA-256 in place of the token': (token) => hashToken(token),
} satisfies Record<string, (token: string) => string | Promise<string>>
export type Mistake = keyof typeof MISTAKES
/** The names of all mistakes. */
export const mistakes = Object.keys(MISTAKES) as Mistake[]

/** Adds checks to a key store, which must be without keys. */
export async function checkedKeys(store: ManagedKeyStore, steps: Steps, clock: ManualClock): Promise<CheckedKeys> {
  const keys: Issued[] = []
  const read = async (steps: Steps) => {
    const listed = await steps.call(
      'list()',
      () => store.list(),
      'it returns an array',
      (all) => (Array.isArray(all) ? showKeys(all) : show(all)),
    )
    if (!Array.isArray(listed))
      throw steps.broken(`list() returned ${show(listed)}: list returns an array`, 'an array', show(listed))
    return listed as readonly ApiKey[]
  }
  const numberOf = (key: ApiKey) => keys.find((issued) => issued.key.id === key?.id)?.number
  const showKeys = (all: readonly ApiKey[]) =>
    all.length === 0 ? 'no keys' : few(all.map((key) => `key ${numberOf(key) ?? show(key?.id)}`))
  const showKey = (key: ApiKey | null | undefined) =>
    key === undefined || key === null ? String(key) : `key ${numberOf(key) ?? show(key.id)}`
  const call = (number: number) => keys[number - 1] as Issued

  /** Checks what was returned for an issued key. */
  const checkKey = (text: string, received: ApiKey, { number, token, key }: Issued) => {
    const broken = (what: string) => steps.broken(`${text} returned ${what}`, show(key), show(received))
    const values = Object.values(received)
    if ([token, ...keys.map((issued) => issued.token)].some((one) => values.includes(one)))
      throw broken(`key ${number} with a token: a store keeps only the SHA-256 of a token`)
    const differs = difference(received, key)
    if (differs) throw broken(`key ${number} ${differs.rule}`)
  }
  const checkRefused = (text: string, found: ApiKey | null | undefined, rule: string) => {
    if (found !== undefined && found !== null)
      throw steps.broken(`${text} returned ${showKey(found)}: ${rule}`, 'undefined', show(found))
  }
  const old = await read(recordSteps())
  if (old.length > 0)
    throw steps.broken('a new key store has keys: open() must return an empty one', 'no keys', show(old))

  async function find(number: number): Promise<void> {
    const issued = call(number)
    const { token, key } = issued
    const text = `find(the token of key ${number})`
    const found = await steps.call(text, () => store.find(token), 'for no key, find returns undefined', showKey)
    if (key.revokedAt !== undefined) return checkRefused(text, found, 'this key is revoked')
    if (found !== undefined && found !== null) return checkKey(text, found, issued)
    // The store may return an expired key or not, because the core checks `expiresAt` too.
    if (key.expiresAt !== undefined && key.expiresAt <= clock.now()) return
    throw steps.broken(`${text} returned ${found}: issue has returned this token`, show(key), String(found))
  }

  return {
    store,
    steps,
    keys,
    now: clock.now,
    step(milliseconds) {
      clock.advance(milliseconds)
      steps.note(`the clock steps by ${milliseconds} ms`)
    },
    async issue(options) {
      const text = `issue(${show(options)})`
      const issued = await steps.call(
        text,
        () => store.issue(options),
        'the options are valid',
        (result) => (result?.key ? 'a key' : show(result)),
      )
      const { token, key } = issued ?? {}
      if (typeof token !== 'string' || typeof key?.id !== 'string')
        throw steps.broken(
          `${text} returned ${show(issued)}: issue returns { token, key }`,
          '{ token, key }',
          show(issued),
        )
      const number = keys.length + 1
      const one = { number, token, key: { ...options, id: key.id, createdAt: clock.now() } }
      checkKey(text, key, one)
      if (keys.some((other) => other.token === token || other.key.id === key.id))
        throw steps.broken(
          'issue returned a token or an id twice: each key has its own',
          'a new token and a new id',
          show(key.id),
        )
      keys.push(one)
      return one
    },
    find,
    async findMistyped(number, mistake) {
      const token = await MISTAKES[mistake](call(number).token)
      const text = `find(the token of key ${number} with ${mistake})`
      const found = await steps.call(text, () => store.find(token), 'for no key, find returns undefined', showKey)
      checkRefused(text, found, 'the whole token is compared, by its SHA-256')
    },
    async revoke(number) {
      const { token, key } = call(number)
      const isLive = key.revokedAt === undefined
      const text = `revoke(the id of key ${number})`
      const done = await steps.call(text, () => store.revoke(key.id), 'it returns true or false', show)
      const rule = isLive ? 'the key was not revoked before' : 'the key was revoked before'
      if (done !== isLive) throw steps.broken(`${text} returned ${show(done)}: ${rule}`, show(isLive), show(done))
      if (isLive) keys[number - 1] = { number, token, key: { ...key, revokedAt: clock.now() } }
      await find(number)
    },
    async revokeUnknown(id) {
      const text = `revoke(${show(id)})`
      const done = await steps.call(text, () => store.revoke(id), 'for no key, revoke returns false', show)
      if (done !== false)
        throw steps.broken(`${text} returned ${show(done)}: there is no such key`, 'false', show(done))
    },
    async list() {
      const listed = await read(steps)
      const all = keys.map(({ key }) => key)
      const broken = (what: string) => steps.broken(`list() ${what}`, showKeys(all), showKeys(listed))
      const ids = new Set(listed.map(({ id }) => id))
      const left = keys.find(({ key }) => !ids.has(key.id))
      if (left)
        throw broken(
          `left out key ${left.number}: list returns every key${left.key.revokedAt === undefined ? '' : ', also revoked ones'}`,
        )
      if (listed.length !== keys.length) throw broken(`returned ${listed.length} keys: ${keys.length} were issued`)
      const early = listed.findIndex(({ id }, i) => id !== all[i]?.id)
      if (early >= 0)
        throw broken(`returned ${showKey(listed[early])} before ${showKey(all[early])}: the oldest key comes first`)
      listed.forEach((key, i) => void checkKey('list()', key, call(i + 1)))
    },
  }
}
