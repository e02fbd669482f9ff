import type { ApiKey } from './model.ts'
import { EXPECTED_LIMITS, invalidOption, isPlanLimits } from './options.ts'
import type { IssueOptions } from './ports.ts'
import { hashToken, newKeyId, newToken } from './token.ts'

/** A key that is about to be stored: the store keeps `key` and `hash`, the caller gets `token` this once. */
export interface NewKey {
  readonly token: string
  /** The SHA-256 of the token, in hexadecimal. */
  readonly hash: string
  readonly key: ApiKey
}

/**
 * Makes a key, for any store that keeps some.
 *
 * @throws {PetStoreError} `invalid_option`, naming the option that is wrong
 */
export async function newKey(options: IssueOptions, now: number): Promise<NewKey> {
  if (typeof options !== 'object' || options === null) throw invalidOption('options', 'an object', options)
  checkIssueOptions(options)
  const { plan, account, limits, label, expiresAt } = options
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

function checkIssueOptions({ plan, account, limits, label, expiresAt }: IssueOptions): void {
  if (!isText(plan)) throw invalidOption('plan', 'the name of a plan', plan)
  if (account !== undefined && !isText(account)) throw invalidOption('account', 'a string that is not empty', account)
  if (label !== undefined && !isStorable(label)) throw invalidOption('label', 'a string', label)
  if (limits === undefined && plan === 'enterprise')
    throw invalidOption('limits', `${EXPECTED_LIMITS}, for the plan enterprise`, limits)
  if (limits !== undefined && !isPlanLimits(limits)) throw invalidOption('limits', EXPECTED_LIMITS, limits)
  if (expiresAt !== undefined && !Number.isSafeInteger(expiresAt)) {
    throw invalidOption('expiresAt', 'whole milliseconds since the Unix epoch', expiresAt)
  }
}

function isText(value: unknown): value is string {
  return isStorable(value) && value !== ''
}

/** Text that every engine can keep. */
function isStorable(value: unknown): value is string {
  return typeof value === 'string' && value.isWellFormed() && !value.includes('\u0000')
}
