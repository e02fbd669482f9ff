import type { ApiKey, PlanLimits } from '../../src/index.ts'
import { type PlaceFlags, withPlace } from './back-end.ts'
import { reason } from './driver.ts'
import { contractPlans } from './flags.ts'
import { print } from './print.ts'
import { requireFile } from './sqlite-file.ts'

/** The flags of `petstore keys issue`. */
export interface IssueFlags extends PlaceFlags {
  readonly plan: string
  readonly account?: string
  readonly label?: string
  readonly limits?: PlanLimits
  readonly expires?: number
}

/** Prints the token alone to standard output, so that a script can take it, and what else there is to say to the other. */
export async function runIssue({ plan, account, label, limits, expires, ...place }: IssueFlags): Promise<void> {
  await withPlace(place, async ({ keyStore }) => {
    const { token, key } = await keyStore.issue({ plan, account, label, limits, expiresAt: expires })
    if (limits === undefined && !contractPlans.includes(plan))
      console.error(`A server must be told what the plan ${printable(plan)} allows, with --plan-limits.`)
    console.error(`Issued ${key.id} on the plan ${printable(plan)}. This is the only time that its token is shown:`)
    try {
      await print(token)
    } catch (error) {
      await keyStore.revoke(key.id)
      throw new Error(`the token could not be written, so the key is revoked: ${reason(error)}`)
    }
  })
}

/** The flags of `petstore keys list`. */
export interface ListFlags extends PlaceFlags {
  readonly json?: true
}

/** Prints every key ever issued. */
export async function runList({ json, ...place }: ListFlags): Promise<void> {
  if (place.data !== undefined) requireFile(place.data)
  await withPlace(place, async ({ keyStore }) => {
    const keys = await keyStore.list()
    if (json) await print(JSON.stringify(keys, null, 2))
    else await print(keys.length === 0 ? 'No keys have been issued.' : table([HEADINGS, ...keys.map(toRow)]))
  })
}

/** Revokes one key. */
export async function runRevoke(id: string, place: PlaceFlags): Promise<void> {
  // A token that has leaked is not to be printed once more, and no store knows it.
  if (id.startsWith('pet_'))
    throw new Error('a token was given: expected the id of the key, as petstore keys list shows it')
  if (place.data !== undefined) requireFile(place.data)
  await withPlace(place, async ({ keyStore }) => {
    if (!(await keyStore.revoke(id))) throw new Error(`there is no live key ${printable(id)}`)
    console.log(`Revoked ${id}. Servers that run refuse it within 30 seconds.`)
  })
}

const HEADINGS = ['ID', 'STATE', 'PLAN', 'LIMITS', 'ACCOUNT', 'ISSUED', 'EXPIRES', 'LABEL']

function toRow(key: ApiKey): string[] {
  const { id, plan, limits, account = '-', createdAt, expiresAt, label = '' } = key
  const agreed = limits === undefined ? '-' : `${limits.perMinute}/${limits.perDay}`
  return [id, stateOf(key), plan, agreed, account, instant(createdAt), instant(expiresAt), label].map(printable)
}

function stateOf({ revokedAt, expiresAt }: ApiKey): string {
  if (revokedAt !== undefined) return 'revoked'
  return expiresAt !== undefined && expiresAt <= Date.now() ? 'expired' : 'live'
}

function instant(time: number | undefined): string {
  if (time === undefined) return '-'
  const date = new Date(time)
  return Number.isNaN(date.getTime()) ? String(time) : date.toISOString().slice(0, 16)
}

/** What was stored may hold characters that steer a terminal. */
function printable(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '\ufffd')
}

function table(rows: readonly string[][]): string {
  const widths = HEADINGS.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
