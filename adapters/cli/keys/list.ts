import type { ApiKey, KeyFilter } from '../../../src/index.ts'
import { stateOf } from '../../../src/keys/key-state.ts'
import type { DatabaseFlags } from '../terminal/flags.ts'
import { print, printLines, readableJson, tableLines } from '../terminal/output.ts'
import { withExistingKeys } from './open.ts'

interface ListFlags extends DatabaseFlags, KeyFilter {
  readonly json?: true
}

/** Runs `petstore keys list`. Reads page by page, because all keys could fill the memory. */
export async function runList({ json, account, state, ...database }: ListFlags): Promise<void> {
  await withExistingKeys(database, async (keys) => {
    const found = keys.all({ account, state })
    if (json) await printLines(jsonLines(found))
    else if ((await printLines(keyTable(found))) === 0) await print('No keys were found.')
  })
}

const HEADINGS = ['ID', 'STATE', 'PLAN', 'ACCESS', 'LIMITS', 'ACCOUNT', 'ISSUED', 'EXPIRES', 'LAST USED', 'LABEL']

export function keyTable(keys: Iterable<ApiKey> | AsyncIterable<ApiKey>): AsyncIterable<string> {
  return tableLines(HEADINGS, keys, toRow)
}

function toRow(key: ApiKey): string[] {
  const { id, plan, access = 'write', limits, account = '-', createdAt, expiresAt, lastUsedOn = '-', label = '' } = key
  const ownLimits = limits === undefined ? '-' : `${limits.perMinute}/${limits.perDay}`
  const state = stateOf(key, Date.now())
  return [id, state, plan, access, ownLimits, account, instant(createdAt), instant(expiresAt), lastUsedOn, label]
}

function instant(time: number | undefined): string {
  if (time === undefined) return '-'
  // The JSON of an invalid date is `null`.
  return new Date(time).toJSON()?.slice(0, 16) ?? String(time)
}

/** A JSON array with one key on each line, so that programs can also read it line by line. */
async function* jsonLines(keys: AsyncIterable<ApiKey>): AsyncGenerator<string, void, undefined> {
  yield '['
  let previous: string | undefined
  for await (const key of keys) {
    if (previous !== undefined) yield `${previous},`
    previous = readableJson(key)
  }
  if (previous !== undefined) yield previous
  yield ']'
}
