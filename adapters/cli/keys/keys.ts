import { text } from 'node:stream/consumers'
import { PetStoreError } from '../../../src/errors.ts'
import type { ApiKey, IssuedKey, KeyAccess, KeyChanges, PlanLimits, Usage, UsageWindow } from '../../../src/index.ts'
import { innermostMessage } from '../../../src/support/describe-value.ts'
import type { BackEndFlags, DatabaseFlags, PlanLimitsByName } from '../terminal/flags.ts'
import { apiKeys, jsonWithTokens, print, printable, printLines, readableJson, shellWord } from '../terminal/output.ts'
import { inBatches } from './batches.ts'
import { keyTable } from './list.ts'
import { alreadyRevoked, hasLimits, planProblem, rejectToken, withExistingKeys, withKey, withKeys } from './open.ts'

/**
 * `Removed` is `false` for a command with flags such as `--no-label`, which set a value to `false`.
 * Else, it is `never`.
 */
interface KeyFlags<Removed> extends DatabaseFlags {
  readonly plan?: string
  readonly planLimits: PlanLimitsByName
  readonly account?: string | Removed
  readonly label?: string | Removed
  readonly limits?: PlanLimits | Removed
  readonly expires?: number | Removed
  readonly readOnly?: true | Removed
  readonly json?: true
}

/**
 * Prints only the token or the JSON to standard output, for scripts, and everything else to
 * standard error.
 */
export async function runIssue(flags: KeyFlags<never> & { readonly plan: string }): Promise<void> {
  const { plan, account, label, limits, expires, readOnly, json, planLimits, ...database } = flags
  requirePlan(plan, limits, planLimits)
  const options = { plan, account, label, limits, access: accessOf(readOnly), expiresAt: expires }
  const failure = await withKeys({ ...database, planLimits }, async (keys) => {
    const issued = await keys.issue(options)
    console.error(`Issued ${issued.key.id} on the plan ${printable(plan)}. Its token is shown only this once:`)
    try {
      await printIssued(issued, json)
    } catch (error) {
      await keys.revoke(issued.key.id)
      return error
    }
  })
  if (failure !== undefined)
    throw new Error(`the token could not be printed, so its key was revoked: ${innermostMessage(failure)}`)
  warnIfExpired(expires)
}

/** Throws if the limits of the plan are unknown, with the names of the flags. */
function requirePlan(plan: string, limits: PlanLimits | undefined, planLimits: PlanLimitsByName): void {
  const problem = planProblem(plan, limits, planLimits)
  if (problem !== undefined) throw new Error(`--${problem}: --limits 10/100`)
}

/** `false` stands for `--no-read-only`. */
function accessOf(readOnly: boolean | undefined): KeyAccess | undefined {
  if (readOnly === undefined) return undefined
  return readOnly ? 'read' : 'write'
}

function printIssued(issued: IssuedKey, json: true | undefined): Promise<void> {
  return print(json ? jsonWithTokens(issued) : issued.token)
}

function warnIfExpired(expires: number | false | undefined): void {
  if (typeof expires === 'number' && expires <= Date.now())
    console.error(`This key has expired already, at ${timeText(expires)}: its requests get 401.`)
}

export async function runUpdate(id: string, flags: KeyFlags<false>): Promise<void> {
  const { plan, account, label, limits, expires, readOnly, json, ...database } = flags
  if (plan !== undefined) requirePlan(plan, limits || undefined, database.planLimits)
  const orNull = <Value>(value: Value | false | undefined) => (value === false ? null : value)
  const changes: KeyChanges = {
    plan,
    account: orNull(account),
    label: orNull(label),
    limits: orNull(limits),
    access: accessOf(readOnly),
    expiresAt: orNull(expires),
  }
  if (Object.values(changes).every((value) => value === undefined))
    throw new Error('expected a change, such as --plan pro, --limits 10/100 or --no-label')
  const key = await withKey(id, database, (keys) => keys.update(id, changes))
  if (json) await print(readableJson(key, [], 2))
  else await printLines(keyTable([key]))
  console.error(`Changed ${id}. Running servers apply this within 30 seconds.`)
  warnIfExpired(expires)
  if (account !== undefined)
    console.error(
      'Idempotency keys belong to the account: a create that was sent before this change and is sent again now adds a second animal.',
    )
}

interface RotateFlags extends DatabaseFlags {
  readonly overlap: number
  readonly json?: true
}

/** Prints the new token as {@link runIssue} does. */
export async function runRotate(id: string, { overlap, json, ...database }: RotateFlags): Promise<void> {
  const issued = await withKey(id, database, (keys) => keys.rotate(id, { overlapSeconds: overlap }))
  const { previousTokenExpiresAt: end } = issued.key
  const isValid = overlap > 0 && end !== undefined
  const previous = isValid ? `is valid until ${timeText(end)}` : 'has ended'
  console.error(
    `Gave ${id} a new token. The previous one ${previous}; running servers know this within 30 seconds. The new token is shown only this once:`,
  )
  try {
    await printIssued(issued, json)
  } catch (error) {
    const advice = isValid
      ? `To get a token that is printed, run petstore keys rotate ${id} again, which ends the previous one at once`
      : `Run petstore keys rotate ${id} again now, because no token of the key is known`
    throw new Error(
      `the new token could not be printed: ${innermostMessage(error)}. The key is not revoked, and its previous token ${previous}. ${advice}`,
    )
  }
}

export async function runSuspend(id: string, database: DatabaseFlags): Promise<void> {
  await withKey(id, database, (keys) => keys.suspend(id))
  await print(`Suspended ${id}. Running servers reject it within 30 seconds, until petstore keys resume ${id}.`)
}

export async function runResume(id: string, database: DatabaseFlags): Promise<void> {
  await withKey(id, database, (keys) => keys.resume(id))
  await print(`Resumed ${id}. Running servers accept it within 30 seconds.`)
}

export async function runRevoke(id: string, database: DatabaseFlags): Promise<void> {
  if (id === '-') return revokeAll((await text(process.stdin)).split(/\s+/).filter(Boolean), database)
  const isRevoked = await withKey(id, database, async (keys) => {
    const key = await keys.get(id)
    await keys.revoke(id)
    return key?.revokedAt !== undefined
  })
  if (isRevoked) throw alreadyRevoked(id)
  await print(`Revoked ${id}. Running servers reject it within 30 seconds.`)
}

/**
 * A key that is revoked already or unknown is no failure: after a restore, the list has keys that
 * the backup does not know.
 */
async function revokeAll(ids: readonly string[], database: DatabaseFlags): Promise<void> {
  ids.forEach(rejectToken)
  let revoked = 0
  await withExistingKeys(database, (keys) =>
    inBatches(ids, async (id) => {
      const key = await keys.get(id)
      if (key === undefined || key.revokedAt !== undefined) return
      await keys.revoke(id)
      revoked++
    }),
  )
  await print(
    `Revoked ${revoked.toLocaleString('en')} of ${apiKeys(ids.length)}. The others were revoked already or are unknown.`,
  )
}

interface UsageFlags extends BackEndFlags {
  readonly planLimits: PlanLimitsByName
  readonly json?: true
}

/** Prints what a key has used of its limits. The call is not counted. */
export async function runUsage(id: string, { json, planLimits, ...flags }: UsageFlags): Promise<void> {
  const usage = await withKey(id, { ...flags, planLimits }, async (keys) => {
    const key = await keys.get(id)
    if (key !== undefined && key.limits === undefined && !hasLimits(key.plan, planLimits)) throw unknownLimits(key)
    return keys.usage(key ?? id)
  })
  await print(json ? readableJson(usage, [], 2) : usageText(usage))
}

function unknownLimits({ plan }: ApiKey): PetStoreError {
  const example = `--plan-limits ${shellWord(`${plan}=10/100`)}`
  const text = `the limits of the plan ${printable(plan)} are not known here: repeat the flag of the server, such as ${example}`
  return new PetStoreError('invalid_option', `--plan-limits: ${text}`)
}

/** Ends the ban of a key, and lets its counts begin at zero. */
export async function runUnban(id: string, flags: BackEndFlags): Promise<void> {
  await withKey(id, flags, (keys) => keys.resetUsage(id))
  await print(`${id} is not banned, and its counts begin at zero. Running servers apply this within 5 seconds.`)
}

function usageText({ plan, minute, day, bannedUntil }: Usage): string {
  const lineOf = (name: string, { limit, used, remaining, resetsAt }: UsageWindow) =>
    `${name}  ${used} of ${limit} used, ${remaining} left, resets at ${timeText(resetsAt)}`
  const ban = bannedUntil === undefined ? 'no' : `until ${timeText(bannedUntil)}`
  return [`Plan    ${printable(plan)}`, lineOf('Minute', minute), lineOf('Day   ', day), `Banned  ${ban}`].join('\n')
}

function timeText(time: number): string {
  // The JSON of a date after the year 275760 is `null`.
  return new Date(time).toJSON() ?? String(time)
}
