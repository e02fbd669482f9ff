import type { ApiKey } from '../model.ts'
import type { IssueOptions } from '../ports.ts'
import { checkOptions, invalidOption, limitsRule, type OptionRules } from '../support/option-rules.ts'
import { hashToken, newKeyId, newToken } from './token.ts'

/** A key that is about to be stored: the store keeps `key` and `hash`, the caller gets `token` this once. */
export interface NewKey {
  /** What the client sends after `Bearer`. */
  readonly token: string
  /** The SHA-256 of the token, in hexadecimal. */
  readonly hash: string
  /** What the service is to know of the key. */
  readonly key: ApiKey
}

const RULES: OptionRules<keyof IssueOptions> = {
  plan: { expected: 'the name of a plan, without U+0000 and lone surrogates', check: isText },
  account: { expected: 'a string that is not empty, without U+0000 and lone surrogates', check: isText },
  limits: limitsRule,
  label: { expected: 'a string without U+0000 and lone surrogates', check: isStorable },
  expiresAt: { expected: 'whole milliseconds since the Unix epoch', check: (value) => Number.isSafeInteger(value) },
}

/**
 * Makes a key, for any store that keeps some.
 *
 * @param now - milliseconds since the Unix epoch
 * @throws {PetStoreError} `invalid_option`, naming the option that is wrong
 * @example
 * ```ts
 * import { hashToken, newKey } from 'petstore-kit'
 *
 * const { token, hash, key } = await newKey({ plan: 'pro' }, Date.now())
 * console.log(hash === (await hashToken(token)), key.plan) // true pro
 * ```
 */
export async function newKey(options: IssueOptions, now: number): Promise<NewKey> {
  checkOptions(RULES, options)
  const { plan, account, limits, label, expiresAt } = options
  if (plan === undefined) throw invalidOption('plan', RULES.plan.expected, plan)
  if (limits === undefined && plan === 'enterprise')
    throw invalidOption('limits', `${limitsRule.expected}, for the plan enterprise`, limits)
  const token = newToken()
  const key = {
    id: newKeyId(),
    plan,
    createdAt: now,
    ...(account !== undefined && { account }),
    ...(limits !== undefined && { limits: Object.freeze({ perMinute: limits.perMinute, perDay: limits.perDay }) }),
    ...(label !== undefined && { label }),
    ...(expiresAt !== undefined && { expiresAt }),
  }
  return { token, hash: await hashToken(token), key: Object.freeze(key) }
}

function isText(value: unknown): value is string {
  return isStorable(value) && value !== ''
}

/** Text that every engine can keep. */
function isStorable(value: unknown): value is string {
  return typeof value === 'string' && value.isWellFormed() && !value.includes('\u0000')
}
