import { type ApiKey, defaultPlans } from '../model.ts'
import type { IssuedKey, IssueOptions, KeyChanges } from '../ports.ts'
import { checkOptions, invalidOption, limitsRule, type OptionRule, type OptionRules } from '../support/option-rules.ts'
import { looksLikeSeconds } from '../support/time.ts'
import { hashToken, newKeyId, newToken } from './token.ts'

/** A new key. A key store saves `key` and `hash`, and returns `token` only to the caller of `issue`. */
export interface NewKey extends IssuedKey {
  /** The SHA-256 of the token, in hexadecimal. */
  readonly hash: string
}

const RULES: OptionRules<keyof IssueOptions> = {
  plan: { expected: 'the name of a plan, without U+0000 and lone surrogates', check: isText },
  account: { expected: 'a string that is not empty, without U+0000 and lone surrogates', check: isText },
  limits: limitsRule,
  label: { expected: 'a string without U+0000 and lone surrogates', check: isStorable },
  expiresAt: {
    expected: 'whole milliseconds since the Unix epoch, not seconds',
    check: (value) => Number.isSafeInteger(value) && !looksLikeSeconds(value as number),
  },
}

/**
 * Creates a key with a new token, for use in a key store.
 * @param now - milliseconds since the Unix epoch
 * @param plans - the names of your own plans, besides `free`, `pro` and `business`; a key with any other plan needs `limits`
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

/** Creates a key for a store that keeps the token itself: the hash needs `crypto.subtle`, which jsdom does not have. */
export function newKeyWithoutHash(options: IssueOptions, now: number, plans: readonly string[] = []): IssuedKey {
  checkOptions(RULES, options)
  const { plan, limits } = options
  if (plan === undefined) throw invalidOption('plan', RULES.plan.expected, plan)
  if (limits === undefined) requireLimitsOf(plan, plans)
  const token = newToken()
  const members: Partial<ApiKey> = Object.fromEntries(givenMembers(options))
  const copy = limits && { limits: Object.freeze({ perMinute: limits.perMinute, perDay: limits.perDay }) }
  const key = Object.freeze({ id: newKeyId(), plan, createdAt: now, ...members, ...copy })
  return { token, key }
}

/**
 * Checks the changes of a key, for use in a key store. Returns the names and values to store; `null` removes a member from the
 * key. To remove `limits`, also give `plan`: the stored key is not read, and its plan may have no limits.
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
  const nullable = Object.entries(RULES).map(([name, rule]): [string, OptionRule] => [
    name,
    name === 'plan'
      ? rule
      : { ...rule, expected: `${rule.expected}, or null`, check: (value) => value === null || rule.check(value) },
  ])
  checkOptions(Object.fromEntries(nullable), changes)
  const { plan, limits } = changes
  if (plan !== undefined && limits == null) requireLimitsOf(plan, plans)
  if (plan === undefined && limits === null)
    throw invalidOption('plan', 'a plan, because a key without its own limits needs one', plan)
  return givenMembers(changes)
}

function givenMembers(options: KeyChanges): [keyof KeyChanges, unknown][] {
  const names = Object.keys(RULES) as (keyof KeyChanges)[]
  return names.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]]))
}

/** Throws if the plan has no limits: a key of this plan needs `limits` of its own. */
function requireLimitsOf(plan: string, plans: readonly string[]): void {
  if (plan === 'enterprise') throw invalidOption('limits', `${limitsRule.expected}, for the plan enterprise`, undefined)
  const known = [...new Set([...Object.keys(defaultPlans), ...plans])]
  if (known.includes(plan)) return
  const advice = `to add a plan, pass plans: [${JSON.stringify(plan)}] to the back end`
  throw invalidOption('plan', `one of the plans ${known.join(', ')}, unless the key has limits (${advice})`, plan)
}

function isText(value: unknown): value is string {
  return isStorable(value) && value !== ''
}

function isStorable(value: unknown): value is string {
  return typeof value === 'string' && value.isWellFormed() && !value.includes('\u0000')
}
