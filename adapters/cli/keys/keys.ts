import { text } from 'node:stream/consumers'
import { codeOf } from '../../../src/errors.ts'
import {
  type ApiKey,
  createPetStore,
  type KeyChanges,
  type Keys,
  type PlanLimits,
  type Usage,
  type UsageWindow,
} from '../../../src/index.ts'
import { innermostMessage } from '../../../src/support/describe-value.ts'
import { withCounts } from '../engines/back-end.ts'
import { requireFile } from '../engines/sqlite-file.ts'
import { type BackEndFlags, type DatabaseFlags, knownPlans, type PlanLimitsByName } from '../terminal/flags.ts'
import { jsonWithTokens, plainWord, print, printable, printLines, readableJson, tableLines } from '../terminal/output.ts'

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
  readonly json?: true
}

/**
 * Prints only the token or the JSON to standard output, for scripts, and everything else to
 * standard error.
 */
export async function runIssue(flags: KeyFlags<never> & { readonly plan: string }): Promise<void> {
  const { plan, account, label, limits, expires, json, planLimits, ...database } = flags
  requirePlan(plan, planLimits, limits)
  const failure = await withKeys({ ...database, planLimits }, async (keys) => {
    const { token, key } = await keys.issue({ plan, account, label, limits, expiresAt: expires })
    console.error(`Issued ${key.id} on the plan ${printable(plan)}. Its token is shown only this once:`)
    try {
      await print(json ? jsonWithTokens({ token, key }) : token)
    } catch (error) {
      await keys.revoke(key.id)
      return error
    }
  })
  if (failure !== undefined)
    throw new Error(`the token could not be printed, so its key was revoked: ${innermostMessage(failure)}`)
}

/** Calls `use` with the keys of a database. */
async function withKeys<T>(
  { planLimits, ...flags }: BackEndFlags & { readonly planLimits?: PlanLimitsByName },
  use: (keys: Keys) => Promise<T>,
): Promise<T> {
  return withCounts(flags, ({ storage, keyStore, quota }) =>
    use(createPetStore({ storage, keyStore, quota, plans: planLimits }).keys),
  )
}

/**
 * Throws if the limits of the plan are unknown. With a key of this plan, a server would respond to
 * each request with 500.
 */
function requirePlan(plan: string, planLimits: PlanLimitsByName, limits: PlanLimits | undefined): void {
  if (limits !== undefined) return
  const plans = knownPlans(planLimits)
  if (plan === 'enterprise' && !Object.hasOwn(planLimits, plan))
    throw new Error(
      '--limits: the plan enterprise has no limits of its own: give the limits of this key as perMinute/perDay, such as --limits 10/100',
    )
  if (!plans.includes(plan))
    throw new Error(
      `--plan: expected one of ${plans.map(printable).join(', ')}, got ${plainWord(plan)}; for a plan of your own, repeat the --plan-limits of the server, such as --plan-limits gold=10/100, or give this key its own --limits 10/100`,
    )
}

export async function runList({ json, ...database }: DatabaseFlags & { readonly json?: true }): Promise<void> {
  if (database.data !== undefined) requireFile(database.data)
  const keys = await withKeys(database, (keys) => allOf(keys.all()))
  if (json) await printLines(jsonLines(keys))
  else if (keys.length === 0) await print('No keys have been issued.')
  else await printLines(tableLines(HEADINGS, keys, toRow))
}

export async function runUpdate(id: string, flags: KeyFlags<false>): Promise<void> {
  const { plan, account, label, limits, expires, json, ...database } = flags
  if (plan !== undefined) requirePlan(plan, database.planLimits, limits || undefined)
  const orNull = <Value>(value: Value | false | undefined) => (value === false ? null : value)
  const changes: KeyChanges = {
    plan,
    account: orNull(account),
    label: orNull(label),
    limits: orNull(limits),
    expiresAt: orNull(expires),
  }
  if (Object.values(changes).every((value) => value === undefined))
    throw new Error('expected a change, such as --plan pro, --limits 10/100 or --no-label')
  const key = await changeKey(id, database, (keys) => keys.update(id, changes))
  if (json) await print(readableJson(key, [], 2))
  else await printLines(tableLines(HEADINGS, [key], toRow))
  console.error(`Changed ${id}. Running servers apply this within 30 seconds.`)
  if (account !== undefined)
    console.error(
      'Idempotency keys belong to the account: a create that was sent before this change and is sent again now adds a second animal.',
    )
}

export async function runRevoke(id: string, database: DatabaseFlags): Promise<void> {
  if (id === '-') return revokeAll((await text(process.stdin)).split(/\s+/).filter(Boolean), database)
  await changeKey(id, database, async (keys) => {
    if ((await keys.get(id))?.revokedAt !== undefined) throw new Error(`the key ${id} is already revoked`)
    return keys.revoke(id)
  })
  console.log(`Revoked ${id}. Running servers reject it within 30 seconds.`)
}

/**
 * A key that is revoked already or unknown is no failure: after a restore, the list has keys that
 * the backup does not know.
 */
async function revokeAll(ids: readonly string[], database: DatabaseFlags): Promise<void> {
  ids.forEach(rejectToken)
  if (database.data !== undefined) requireFile(database.data)
  const revoked = await withKeys(database, async (keys) => {
    let count = 0
    for (const id of ids) {
      const key = await keys.get(id)
      if (key === undefined || key.revokedAt !== undefined) continue
      await keys.revoke(id)
      count++
    }
    return count
  })
  console.log(`Revoked ${revoked} of ${ids.length} keys. The others were revoked already or are unknown.`)
}

interface CountFlags extends BackEndFlags {
  readonly planLimits: PlanLimitsByName
}

/** Prints what a key has used of its limits. The call is not counted. */
export async function runUsage(id: string, { json, ...flags }: CountFlags & { readonly json?: true }): Promise<void> {
  const usage = await changeKey(id, flags, (keys) => keys.usage(id))
  await print(json ? readableJson(usage, [], 2) : usageText(usage))
}

/** Ends the ban of a key, and lets its counts begin at zero. */
export async function runUnban(id: string, flags: CountFlags): Promise<void> {
  await changeKey(id, flags, (keys) => keys.resetUsage(id))
  console.log(`${id} is not banned, and its counts begin at zero. Running servers apply this within 5 seconds.`)
}

function usageText({ plan, minute, day, bannedUntil }: Usage): string {
  const lineOf = (name: string, { limit, used, remaining, resetsAt }: UsageWindow) =>
    `${name}  ${used} of ${limit} used, ${remaining} left, resets at ${new Date(resetsAt).toISOString()}`
  const ban = bannedUntil === undefined ? 'no' : `until ${new Date(bannedUntil).toISOString()}`
  return [`Plan    ${printable(plan)}`, lineOf('Minute', minute), lineOf('Day   ', day), `Banned  ${ban}`].join('\n')
}

/** Calls `change` with the keys of a database. Its errors about the key are for the terminal. */
async function changeKey<T>(
  id: string,
  flags: BackEndFlags & { readonly planLimits?: PlanLimitsByName },
  change: (keys: Keys) => Promise<T>,
): Promise<T> {
  rejectToken(id)
  if (flags.data !== undefined) requireFile(flags.data)
  try {
    return await withKeys(flags, change)
  } catch (error) {
    const code = codeOf(error)
    if (code === 'key_not_found') throw unknownKey(id)
    if (code === 'key_revoked') throw new Error(`the key ${id} is already revoked`)
    throw error
  }
}

async function allOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

/** The error message does not contain the token, because logs may show the message. */
function rejectToken(id: string): void {
  if (id.startsWith('pet_')) throw new Error('expected the id of the key, as petstore keys list shows it; got a token')
}

function unknownKey(id: string): Error {
  return new Error(`there is no key ${/^key_\w+$/.test(id) ? id : 'with this id'}`)
}

const HEADINGS = ['ID', 'STATE', 'PLAN', 'LIMITS', 'ACCOUNT', 'ISSUED', 'EXPIRES', 'LABEL']

function toRow(key: ApiKey): string[] {
  const { id, plan, limits, account = '-', createdAt, expiresAt, label = '' } = key
  const ownLimits = limits === undefined ? '-' : `${limits.perMinute}/${limits.perDay}`
  return [id, stateOf(key), plan, ownLimits, account, instant(createdAt), instant(expiresAt), label]
}

function stateOf({ revokedAt, expiresAt }: ApiKey): string {
  if (revokedAt !== undefined) return 'revoked'
  return expiresAt !== undefined && expiresAt <= Date.now() ? 'expired' : 'valid'
}

function instant(time: number | undefined): string {
  if (time === undefined) return '-'
  // The JSON of an invalid date is `null`.
  return new Date(time).toJSON()?.slice(0, 16) ?? String(time)
}

/** A JSON array with one key on each line, so that programs can also read it line by line. */
function* jsonLines(keys: readonly ApiKey[]): Generator<string> {
  yield '['
  for (const [index, key] of keys.entries()) yield `${readableJson(key)}${index < keys.length - 1 ? ',' : ''}`
  yield ']'
}
