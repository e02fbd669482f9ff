import { text } from 'node:stream/consumers'
import {
  type ApiKey,
  createPetStore,
  type KeyChanges,
  type ManagedKeyStore,
  type PlanLimits,
  type Usage,
  type UsageFunctions,
  type UsageWindow,
} from '../../src/index.ts'
import { innermostMessage } from '../../src/support/describe-value.ts'
import { withCounts, withDatabase } from './engines/back-end.ts'
import { requireFile } from './engines/sqlite-file.ts'
import { type BackEndFlags, type DatabaseFlags, knownPlans, type PlanLimitsByName } from './terminal/flags.ts'
import { jsonWithTokens, plainWord, print, printable, printLines, readableJson, tableLines } from './terminal/output.ts'

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
  const { plan, account, label, limits, expires, json, ...database } = flags
  requirePlan(plan, database.planLimits, limits)
  const failure = await withDatabase(database, async ({ keyStore }) => {
    const { token, key } = await keyStore.issue({ plan, account, label, limits, expiresAt: expires })
    console.error(`Issued ${key.id} on the plan ${printable(plan)}. Its token is shown only this once:`)
    try {
      await print(json ? jsonWithTokens({ token, key }) : token)
    } catch (error) {
      await keyStore.revoke(key.id)
      return error
    }
  })
  if (failure !== undefined)
    throw new Error(`the token could not be printed, so its key was revoked: ${innermostMessage(failure)}`)
}

/**
 * Throws if the limits of the plan are unknown. With a key of this plan, a server would respond to
 * each request with 500.
 */
function requirePlan(plan: string, planLimits: PlanLimitsByName, limits: PlanLimits | undefined): void {
  if (limits !== undefined) return
  if (plan === 'enterprise')
    throw new Error(
      '--limits: the plan enterprise has no limits of its own: give the limits of this key as perMinute/perDay, such as --limits 10/100',
    )
  const plans = knownPlans(planLimits)
  if (!plans.includes(plan))
    throw new Error(
      `--plan: expected one of ${plans.map(printable).join(', ')}, got ${plainWord(plan)}; for a plan of your own, repeat the --plan-limits of the server, such as --plan-limits gold=10/100, or give this key its own --limits 10/100`,
    )
}

export async function runList({ json, ...database }: DatabaseFlags & { readonly json?: true }): Promise<void> {
  if (database.data !== undefined) requireFile(database.data)
  const keys = await withDatabase(database, ({ keyStore }) => keyStore.list())
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
  const key = await changeKey(id, database, (keyStore) => keyStore.update(id, changes))
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
  await changeKey(id, database, (keyStore) => keyStore.revoke(id))
  console.log(`Revoked ${id}. Running servers reject it within 30 seconds.`)
}

/**
 * A key that is revoked already or unknown is no failure: after a restore, the list has keys that
 * the backup does not know.
 */
async function revokeAll(ids: readonly string[], database: DatabaseFlags): Promise<void> {
  ids.forEach(rejectToken)
  if (database.data !== undefined) requireFile(database.data)
  const revoked = await withDatabase(database, async ({ keyStore }) => {
    const known = await keyStore.list()
    const notRevoked = new Set(known.filter(({ revokedAt }) => revokedAt === undefined).map(({ id }) => id))
    let count = 0
    for (const id of ids) if (notRevoked.has(id) && (await keyStore.revoke(id))) count++
    return count
  })
  console.log(`Revoked ${revoked} of ${ids.length} keys. The others were revoked already or are unknown.`)
}

interface CountFlags extends BackEndFlags {
  readonly planLimits: PlanLimitsByName
}

/** Prints what a key has used of its limits. The call is not counted. */
export async function runUsage(id: string, { json, ...flags }: CountFlags & { readonly json?: true }): Promise<void> {
  const usage = await withKey(id, flags, (key, petStore) => petStore.usage(key))
  await print(json ? readableJson(usage, [], 2) : usageText(usage))
}

/** Ends the ban of a key, and lets its counts begin at zero. */
export async function runUnban(id: string, flags: CountFlags): Promise<void> {
  await withKey(id, flags, (key, petStore) => petStore.resetUsage(key))
  console.log(`${id} is not banned, and its counts begin at zero. Running servers apply this within 5 seconds.`)
}

/** Calls `use` with a key and a store that has the limits of `--plan-limits`. */
async function withKey<T>(
  id: string,
  flags: CountFlags,
  use: (key: ApiKey, store: CountingStore) => Promise<T>,
): Promise<T> {
  rejectToken(id)
  if (flags.data !== undefined) requireFile(flags.data)
  return withCounts(flags, async ({ storage, keyStore, quota }) => {
    const key = (await keyStore.list()).find((one) => one.id === id)
    if (!key) throw unknownKey(id)
    return use(key, createPetStore({ storage, keyStore, quota, plans: flags.planLimits }))
  })
}

type CountingStore = Pick<UsageFunctions, 'usage' | 'resetUsage'>

function usageText({ plan, minute, day, bannedUntil }: Usage): string {
  const lineOf = (name: string, { limit, used, remaining, resetsAt }: UsageWindow) =>
    `${name}  ${used} of ${limit} used, ${remaining} left, resets at ${new Date(resetsAt).toISOString()}`
  const ban = bannedUntil === undefined ? 'no' : `until ${new Date(bannedUntil).toISOString()}`
  return [`Plan    ${printable(plan)}`, lineOf('Minute', minute), lineOf('Day   ', day), `Banned  ${ban}`].join('\n')
}

/** If `change` returns nothing, throws an error that says whether the key is revoked or unknown. */
async function changeKey<T>(
  id: string,
  database: DatabaseFlags,
  change: (keyStore: ManagedKeyStore) => Promise<T | false | undefined>,
): Promise<T> {
  rejectToken(id)
  if (database.data !== undefined) requireFile(database.data)
  const { result, isKnown } = await withDatabase(database, async ({ keyStore }) => {
    const result = await change(keyStore)
    return { result, isKnown: !result && (await keyStore.list()).some((key) => key.id === id) }
  })
  if (result) return result
  if (isKnown) throw new Error(`the key ${id} is already revoked`)
  throw unknownKey(id)
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
