import type { ApiKey } from '../model.ts'
import type { IssuedKey, IssueOptions, KeyChanges } from '../ports.ts'
import { issueOptions, keyChanges as keyChangesSchema } from '../schemas/key.ts'
import { parseOptions } from '../schemas/parse-options.ts'
import { hashToken, newKeyIds, newToken } from './token.ts'

/**
 * A new key. A key store saves `key` and `hash`, and returns `token` only to the caller of `issue`.
 */
export interface NewKey extends IssuedKey {
  /** The SHA-256 of the token, in hexadecimal. */
  readonly hash: string
}

/**
 * Creates a key with a new token, for use in a key store.
 * @param now - milliseconds since the Unix epoch
 * @param newId - returns the id of the key; see `newKeyIds`
 * @throws {PetStoreError} `invalid_option`, with the name of the option
 * @example
 * ```ts
 * import { hashToken, newKey, newKeyIds } from 'petstore-kit/back-end'
 *
 * const newId = newKeyIds()
 * const { token, hash, key } = await newKey({ plan: 'pro' }, Date.now(), newId)
 * console.log(hash === (await hashToken(token)), key.plan) // true pro
 * ```
 */
export async function newKey(options: IssueOptions, now: number, newId = newKeyIds()): Promise<NewKey> {
  const token = newToken()
  return { token, hash: await hashToken(token), key: newKeyWithoutToken(options, now, newId) }
}

/** Creates a key for a store that keeps the token itself, or that has only the hash of it. */
export function newKeyWithoutToken(options: IssueOptions, now: number, newId: (now: number) => string): ApiKey {
  const { plan, ...others } = parseOptions(issueOptions, options)
  return Object.freeze({ id: newId(now), plan, createdAt: now, ...withoutUndefined(others) }) as ApiKey
}

/**
 * Checks the changes of a key, for use in a key store. Returns the names and values to store;
 * `null` removes a member from the key.
 * @throws {PetStoreError} `invalid_option`, with the name of the option
 * @example
 * ```ts
 * import { keyChanges } from 'petstore-kit/back-end'
 *
 * console.log(JSON.stringify(keyChanges({ plan: 'pro', label: null }))) // [["plan","pro"],["label",null]]
 * ```
 */
export function keyChanges(changes: KeyChanges): [keyof KeyChanges, unknown][] {
  return Object.entries(withoutUndefined(parseOptions(keyChangesSchema, changes))) as [keyof KeyChanges, unknown][]
}

/** Leaves out the members that are `undefined`: a database would store `null` for them. */
function withoutUndefined<T extends object>(members: T): T {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as T
}
