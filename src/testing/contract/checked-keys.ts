import { hashToken } from '../../keys/token.ts'
import type { ApiKey } from '../../model.ts'
import type { IssuedKey, IssueOptions, KeyChanges, ManagedKeyStore } from '../../ports.ts'
import type { ManualClock } from '../clock.ts'
import { few, recordSteps, type Steps, show } from './report.ts'

/** A key that was issued. A report calls the first one `key 1`. */
export interface Issued {
  readonly number: number
  readonly token: string
  readonly key: ApiKey
}

/** A key store whose results are compared with those of a plain list. */
export interface CheckedKeys {
  readonly store: ManagedKeyStore
  readonly steps: Steps
  /** The keys that the store must have, the oldest first. */
  readonly keys: readonly Issued[]
  issue(options: IssueOptions): Promise<Issued>
  find(number: number): Promise<void>
  findMistyped(number: number, mistake: Mistake): Promise<void>
  update(number: number, changes: KeyChanges): Promise<void>
  updateUnknown(id: string): Promise<void>
  revoke(number: number): Promise<void>
  revokeUnknown(id: string): Promise<void>
  list(): Promise<void>
  reopen(): Promise<void>
  now(): number
  step(milliseconds: number): void
}

const MISTAKES = {
  'another last character': (token) => token.slice(0, -1) + (token.endsWith('a') ? 'b' : 'a'),
  'one character too many': (token) => `${token}0`,
  'one character too few': (token) => token.slice(0, -1),
  'upper case': (token) => token.toUpperCase(),
  'no character': () => '',
  'its SHA-256 in place of the token': (token) => hashToken(token),
} satisfies Record<string, (token: string) => string | Promise<string>>
export type Mistake = keyof typeof MISTAKES
export const mistakes = Object.keys(MISTAKES) as Mistake[]

/** Adds checks to an empty key store. */
export async function checkedKeys(
  opened: ManagedKeyStore,
  steps: Steps,
  clock: ManualClock,
  reopen: () => Promise<ManagedKeyStore>,
): Promise<CheckedKeys> {
  let store = opened
  const keys: Issued[] = []
  const nameOf = (key: ApiKey) => `key ${keys.find((issued) => issued.key.id === key?.id)?.number ?? show(key?.id)}`
  const showKeys = (all: readonly ApiKey[]) => (all.length === 0 ? 'no keys' : few(all.map(nameOf)))
  const showKey = (key: ApiKey | null | undefined) => (key === undefined || key === null ? String(key) : nameOf(key))
  const call = (number: number) => keys[number - 1] as Issued

  const read = async (steps: Steps) => {
    const showAll = (all: readonly ApiKey[]) => (Array.isArray(all) ? showKeys(all) : show(all))
    const listed = await steps.call('list()', () => store.list(), 'it returns an array', showAll)
    const received = show(listed)
    steps.check(Array.isArray(listed), `list() returned ${received}: list returns an array`, 'an array', received)
    return listed
  }
  const lookUp = (text: string, token: string) =>
    steps.call(text, () => store.find(token), 'for no key, find returns undefined', showKey)

  const checkKey = (text: string, received: ApiKey, { number, token, key }: Issued) => {
    const values = Object.values(received)
    const hasToken = [token, ...keys.map((issued) => issued.token)].some((one) => values.includes(one))
    const sentence = `${text} returned key ${number} with a token: a store keeps only the SHA-256 of a token`
    steps.check(!hasToken, sentence, key, received)
    steps.checkEqual(`${text} returned key ${number}`, received, key)
  }
  const checkRefused = (text: string, found: ApiKey | null | undefined, rule: string) => {
    const isRefused = found === undefined || found === null
    steps.check(isRefused, `${text} returned ${showKey(found)}: ${rule}`, 'undefined', found)
  }
  const old = await read(recordSteps())
  steps.check(old.length === 0, 'a new key store has keys: open() must return an empty one', 'no keys', old)

  async function find(number: number): Promise<void> {
    const issued = call(number)
    const { token, key } = issued
    const text = `find(the token of key ${number})`
    const found = await lookUp(text, token)
    if (key.revokedAt !== undefined) return checkRefused(text, found, 'this key is revoked')
    if (found !== undefined && found !== null) return checkKey(text, found, issued)
    // The store may return an expired key or not, because the core checks `expiresAt` too.
    const isExpired = key.expiresAt !== undefined && key.expiresAt <= clock.now()
    steps.check(isExpired, `${text} returned ${found}: issue has returned this token`, key, found)
  }

  return {
    get store() {
      return store
    },
    steps,
    keys,
    now: clock.now,
    step(milliseconds) {
      clock.advance(milliseconds)
      steps.note(`the clock steps by ${milliseconds} ms`)
    },
    async issue(options) {
      const text = `issue(${show(options)})`
      const showIssued = (result: IssuedKey) => (result?.key ? 'a key' : show(result))
      const issued = await steps.call(text, () => store.issue(options), 'the options are valid', showIssued)
      const { token, key } = issued ?? {}
      const isIssued = typeof token === 'string' && typeof key?.id === 'string'
      const received = show(issued)
      steps.check(isIssued, `${text} returned ${received}: issue returns { token, key }`, '{ token, key }', received)
      const number = keys.length + 1
      const one = { number, token, key: { ...options, id: key.id, createdAt: clock.now() } }
      checkKey(text, key, one)
      const isNew = keys.every((other) => other.token !== token && other.key.id !== key.id)
      const sentence = 'issue returned a token or an id twice: each key has its own'
      steps.check(isNew, sentence, 'a new token and a new id', show(key.id))
      keys.push(one)
      return one
    },
    find,
    async reopen() {
      store = await reopen()
    },
    async findMistyped(number, mistake) {
      const text = `find(the token of key ${number} with ${mistake})`
      const found = await lookUp(text, await MISTAKES[mistake](call(number).token))
      checkRefused(text, found, 'the whole token is compared, by its SHA-256')
    },
    async update(number, changes) {
      const issued = call(number)
      const { token, key } = issued
      const text = `update(the id of key ${number}, ${show(changes)})`
      const changed = await steps.call(text, () => store.update(key.id, changes), 'the changes are valid', showKey)
      if (key.revokedAt !== undefined) return checkRefused(text, changed, 'this key is revoked')
      const given = Object.entries(changes).filter(([, value]) => value !== undefined)
      const members = Object.entries({ ...key, ...Object.fromEntries(given) }).filter(([, value]) => value !== null)
      const now = { number, token, key: Object.fromEntries(members) as unknown as ApiKey }
      steps.check(
        Boolean(changed),
        `${text} returned ${showKey(changed)}: update returns the changed key`,
        now.key,
        changed,
      )
      checkKey(text, changed as ApiKey, now)
      keys[number - 1] = now
      await find(number)
    },
    async updateUnknown(id) {
      const text = `update(${show(id)}, { plan: "pro" })`
      const changed = await steps.call(
        text,
        () => store.update(id, { plan: 'pro' }),
        'for no key, update returns undefined',
        showKey,
      )
      checkRefused(text, changed, 'there is no such key')
    },
    async revoke(number) {
      const { token, key } = call(number)
      const isLive = key.revokedAt === undefined
      const text = `revoke(the id of key ${number})`
      const done = await steps.call(text, () => store.revoke(key.id), 'it returns true or false')
      const rule = isLive ? 'the key was not revoked before' : 'the key was revoked before'
      steps.check(done === isLive, `${text} returned ${show(done)}: ${rule}`, isLive, done)
      if (isLive) keys[number - 1] = { number, token, key: { ...key, revokedAt: clock.now() } }
      await find(number)
    },
    async revokeUnknown(id) {
      const text = `revoke(${show(id)})`
      const done = await steps.call(text, () => store.revoke(id), 'for no key, revoke returns false')
      steps.check(done === false, `${text} returned ${show(done)}: there is no such key`, 'false', done)
    },
    async list() {
      const listed = await read(steps)
      const all = keys.map(({ key }) => key)
      const check = (holds: boolean, what: string) =>
        steps.check(holds, `list() ${what}`, showKeys(all), showKeys(listed))
      const left = keys.find(({ key }) => listed.every(({ id }) => id !== key.id))
      const also = left?.key.revokedAt === undefined ? '' : ', also revoked ones'
      check(!left, `left out key ${left?.number}: list returns every key${also}`)
      check(listed.length === keys.length, `returned ${listed.length} keys: ${keys.length} were issued`)
      listed.forEach((key, i) => {
        const { key: expected, number } = call(i + 1)
        check(key.id === expected.id, `returned ${showKey(key)} before key ${number}: the oldest key comes first`)
      })
      listed.forEach((key, i) => void checkKey('list()', key, call(i + 1)))
    },
  }
}
