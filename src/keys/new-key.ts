import { type ApiKey, defaultPlans } from '../model.ts'
import type { IssuedKey, IssueOptions, KeyChanges } from '../ports.ts'
import { issueOptions, keyChanges as keyChangesSchema } from '../schemas/key.ts'
import { LIMITS } from '../schemas/limits.ts'
import { invalidOption } from '../schemas/options.ts'
import { parseOptions } from '../schemas/parse-options.ts'
import { hashToken, newKeyId, newToken } from './token.ts'

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
 * @param plans - the names of your own plans, besides `free`, `pro` and `business`; a key with any
 * other plan needs `limits`
 * @throws {PetStoreError} `invalid_option`, with the name of the option
 * @example
 * ```ts
 * import { hashToken, newKey } from 'petstore-kit/back-end'
 *
 * const { token, hash, key } = await newKey({ plan: 'pro' }, Date.now())
 * console.log(hash === (await hashToken(token)), key.plan) // true pro
 * ```
 */
export async function newKey(options: IssueOptions, now: number, plans: readonly string[] = []): Promise<NewKey> {
  const { token, key } = newKeyWithoutHash(options, now, plans)
  return { token, hash: await hashToken(token), key }
}

/**
 * Creates a key for a store that keeps the token itself: the hash needs `crypto.subtle`, which
 * jsdom does not have.
 */
export function newKeyWithoutHash(options: IssueOptions, now: number, plans: readonly string[] = []): IssuedKey {
  const given = parseOptions(issueOptions, options)
  if (given.limits === undefined) requireLimitsOf(given.plan, plans)
  const { plan, ...others } = given
  const key: ApiKey = Object.freeze({ id: newKeyId(), plan, createdAt: now, ...withoutUndefined(others) })
  return { token: newToken(), key }
}

/**
 * Checks the changes of a key, for use in a key store. Returns the names and values to store;
 * `null` removes a member from the key. To remove `limits`, also give `plan`: the stored key is not
 * read, and its plan may have no limits.
 * @param plans - the names of your own plans, besides `free`, `pro` and `business`
 * @throws {PetStoreError} `invalid_option`, with the name of the option
 * @example
 * ```ts
 * import { keyChanges } from 'petstore-kit/back-end'
 *
 * console.log(JSON.stringify(keyChanges({ plan: 'pro', label: null }))) // [["plan","pro"],["label",null]]
 * ```
 */
export function keyChanges(changes: KeyChanges, plans: readonly string[] = []): [keyof KeyChanges, unknown][] {
  const given = parseOptions(keyChangesSchema, changes)
  const { plan, limits } = given
  if (plan !== undefined && limits == null) requireLimitsOf(plan, plans)
  if (plan === undefined && limits === null)
    throw invalidOption('plan', 'a plan, because a key without its own limits needs one', plan)
  return Object.entries(withoutUndefined(given)) as [keyof KeyChanges, unknown][]
}

/** Leaves out the members that are `undefined`: a database would store `null` for them. */
function withoutUndefined<T extends object>(members: T): T {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as T
}

/** Throws if the plan has no limits: a key of this plan needs `limits` of its own. */
function requireLimitsOf(plan: string, plans: readonly string[]): void {
  if (plan === 'enterprise') throw invalidOption('limits', `${LIMITS}, for the plan enterprise`, undefined)
  const known = [...new Set([...Object.keys(defaultPlans), ...plans])]
  if (known.includes(plan)) return
  const advice = `to add a plan, pass plans: [${JSON.stringify(plan)}] to the back end`
  throw invalidOption('plan', `one of the plans ${known.join(', ')}, unless the key has limits (${advice})`, plan)
}
