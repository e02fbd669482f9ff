import { hashToken } from '../../../keys/token.ts'
import type { ApiKey } from '../../../model.ts'
import type { IssuedKey, IssueOptions, KeyChanges, ManagedKeyStore } from '../../../ports.ts'
import { listFirst, show } from './report.ts'
import type { Session } from './runner.ts'

/** A key that was issued. Messages about failures name it by its number, such as `key 1`. */
interface Issued {
  readonly number: number
  readonly token: string
  key: ApiKey
}

/** A key store whose results are compared with those of a plain list. */
export type CheckedKeys = Awaited<ReturnType<typeof checkedKeys>>

const MISTAKES = {
  'with another last character': (token) => token.slice(0, -1) + (token.endsWith('a') ? 'b' : 'a'),
  'with one character too many': (token) => `${token}0`,
  'with one character too few': (token) => token.slice(0, -1),
  'in upper case': (token) => token.toUpperCase(),
  'replaced by an empty text': () => '',
  'replaced by its SHA-256': (token) => hashToken(token),
} satisfies Record<string, (token: string) => string | Promise<string>>
type Mistake = keyof typeof MISTAKES
export const mistakes = Object.keys(MISTAKES) as Mistake[]

export async function checkedKeys(session: Session<ManagedKeyStore>) {
  const { port, steps, now } = session
  /** The keys that the store must have, the oldest first. */
  const keys: Issued[] = []
  const issued = (number: number) => keys[number - 1] as Issued
  const nameOf = (key: ApiKey) => `key ${keys.find((one) => one.key.id === key?.id)?.number ?? show(key?.id)}`
  const showKeys = (all: readonly ApiKey[]) => (all.length === 0 ? 'no keys' : listFirst(all.map(nameOf)))
  const showKey = (key: ApiKey | null | undefined) => (key == null ? String(key) : nameOf(key))

  const old = await read()
  steps.check(old.length === 0, 'a new key store has keys: open() must return an empty one', 'no keys', old)
  steps.forget()

  async function read(): Promise<readonly ApiKey[]> {
    const showAll = (all: readonly ApiKey[]) => (Array.isArray(all) ? showKeys(all) : show(all))
    const listed = await steps.call('list()', () => port().list(), 'list must return an array', showAll)
    const received = show(listed)
    steps.check(Array.isArray(listed), `list() returned ${received}: list must return an array`, 'an array', received)
    return listed
  }

  function checkKey(text: string, received: ApiKey, { number, token, key }: Issued): void {
    const values = Object.values(received)
    const hasToken = [token, ...keys.map((one) => one.token)].some((one) => values.includes(one))
    const sentence = `${text} returned key ${number} with a token: a store keeps only the SHA-256 of a token`
    steps.check(!hasToken, sentence, key, received)
    steps.checkEqual(`${text} returned key ${number}`, received, key)
  }

  function checkNone(text: string, found: ApiKey | null | undefined, rule: string): void {
    steps.check(found == null, `${text} returned ${showKey(found)}: ${rule}`, 'undefined', found)
  }

  async function issue(options: IssueOptions): Promise<void> {
    const text = `issue(${show(options)})`
    const showIssued = (result: IssuedKey) => (result?.key ? 'a key' : show(result))
    const result = await steps.call(text, () => port().issue(options), 'the options are valid', showIssued)
    const { token, key } = result ?? {}
    const isIssued = typeof token === 'string' && typeof key?.id === 'string'
    const received = show(result)
    steps.check(isIssued, `${text} returned ${received}: issue must return { token, key }`, '{ token, key }', received)
    const one = { number: keys.length + 1, token, key: { ...options, id: key.id, createdAt: now() } }
    checkKey(text, key, one)
    const isNew = keys.every((other) => other.token !== token && other.key.id !== key.id)
    const sentence = 'issue returned a token or an id twice: each key must have a new token and a new id'
    steps.check(isNew, sentence, 'a new token and a new id', show(key.id))
    keys.push(one)
  }

  /** Calls `find`, and accepts any result. */
  async function lookUp(number: number, mistake?: Mistake) {
    const text = `find(the token of key ${number}${mistake === undefined ? '' : ` ${mistake}`})`
    const { token } = issued(number)
    const given = mistake === undefined ? token : await MISTAKES[mistake](token)
    const found = await steps.call(text, () => port().find(given), 'for unknown tokens, return undefined', showKey)
    return { text, found }
  }

  async function find(number: number, mistake?: Mistake): Promise<void> {
    const { text, found } = await lookUp(number, mistake)
    const { key } = issued(number)
    if (mistake !== undefined) return checkNone(text, found, 'find must compare the SHA-256 of the whole token')
    if (key.revokedAt !== undefined) return checkNone(text, found, 'this key is revoked')
    if (key.expiresAt !== undefined && key.expiresAt <= now()) return checkNone(text, found, 'this key has expired')
    steps.check(found != null, `${text} returned ${found}: find must return the key of this token`, key, found)
    checkKey(text, found as ApiKey, issued(number))
  }

  /**
   * `one` is the number of a key, or an id that no key has. Returns the id, its name in messages,
   * and the key, if any.
   */
  function target(one: number | string) {
    if (typeof one === 'string') return { id: one, name: show(one), known: undefined }
    return { id: issued(one).key.id, name: `the id of key ${one}`, known: issued(one) }
  }

  async function update(one: number | string, changes: KeyChanges): Promise<void> {
    const { id, name, known } = target(one)
    const text = `update(${name}, ${show(changes)})`
    const rule = known ? 'the changes are valid' : 'update must return undefined for an unknown id'
    const changed = await steps.call(text, () => port().update(id, changes), rule, showKey)
    if (!known) return checkNone(text, changed, 'there is no such key')
    if (known.key.revokedAt !== undefined) return checkNone(text, changed, 'this key is revoked')
    const given = Object.entries(changes).filter(([, value]) => value !== undefined)
    const members = Object.entries({ ...known.key, ...Object.fromEntries(given) }).filter(([, value]) => value !== null)
    const key = Object.fromEntries(members) as unknown as ApiKey
    const sentence = `${text} returned ${showKey(changed)}: update must return the changed key`
    steps.check(Boolean(changed), sentence, key, changed)
    checkKey(text, changed as ApiKey, { ...known, key })
    known.key = key
    await find(known.number)
  }

  /** Makes the same call `times` times at once. Only one of them may revoke the key. */
  async function revoke(one: number | string, times = 1): Promise<void> {
    const { id, name, known } = target(one)
    const text = `revoke(${name})`
    const call = () => steps.call(text, () => port().revoke(id), 'revoke must return true or false')
    const results = await Promise.all(Array.from({ length: times }, call))
    const isLive = known !== undefined && known.key.revokedAt === undefined
    const count = results.filter(Boolean).length
    const sentence = `revoke returned true ${count} times for ${times} calls at the same time: only one has revoked the key`
    steps.check(count <= 1, sentence, 'true 1 time', `true ${count} times`)
    const done = results.find(Boolean) ?? results[0]
    const before = known ? `the key was ${isLive ? 'not ' : ''}revoked before` : 'there is no such key'
    steps.check(done === isLive, `${text} returned ${show(done)}: ${before}`, isLive, done)
    if (!known) return
    if (isLive) known.key = { ...known.key, revokedAt: now() }
    await find(known.number)
  }

  async function checkInvalid(text: string, call: () => Promise<unknown>, advice: string): Promise<void> {
    const result: unknown = await (async () => call())().catch((error) => error)
    const isInvalidOption = result instanceof Error && 'code' in result && result.code === 'invalid_option'
    const received = result instanceof Error ? `${result.name}: ${result.message}` : show(result)
    const sentence = `${text} did not throw invalid_option: ${advice}`
    steps.check(isInvalidOption, sentence, 'a PetStoreError with the code invalid_option', received)
  }

  async function list(): Promise<void> {
    const listed = await read()
    const all = keys.map(({ key }) => key)
    const check = (holds: boolean, what: string) =>
      steps.check(holds, `list() ${what}`, showKeys(all), showKeys(listed))
    const missing = keys.find(({ key }) => listed.every(({ id }) => id !== key.id))
    const also = missing?.key.revokedAt === undefined ? '' : ', also revoked ones'
    check(!missing, `left out key ${missing?.number}: list must return every key${also}`)
    check(listed.length === keys.length, `returned ${listed.length} keys: ${keys.length} were issued`)
    listed.forEach((key, i) => {
      check(key.id === all[i]?.id, `returned ${showKey(key)} before key ${i + 1}: the oldest key must come first`)
      checkKey('list()', key, issued(i + 1))
    })
  }

  return { ...session, keys, issue, lookUp, find, update, revoke, checkInvalid, list }
}
