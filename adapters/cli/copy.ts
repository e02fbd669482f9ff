import { columnsOf, type Row, type TableName, tableNames } from '../back-ends/shared/tables.ts'
import { type OpenedTables, using } from './engines/driver.ts'
import { openPostgresTables } from './engines/servers.ts'
import { openSqliteTables, requireFile } from './engines/sqlite-file.ts'
import { isPostgresUrl } from './terminal/flags.ts'
import { print, printable } from './terminal/output.ts'

export interface CopyFlags {
  readonly from: string
  readonly to: string
  readonly verify?: true
  readonly json?: true
}

/** How many rows of a table are in the source, and how many of the target differed before the copy. */
interface Comparison {
  rows: number
  missing: number
  different: number
  superfluous: number
}

/** Runs `petstore copy`. An interrupted copy is continued by running it again. */
export async function runCopy({ from, to, verify, json }: CopyFlags): Promise<void> {
  if (from === to) throw new Error('--from and --to are the same store: give two')
  const source = await open(from, '--from', true)
  try {
    const target = await open(to, '--to', verify === true)
    try {
      await requireAnySource(source, target)
      const tables = await copyTables(source, target, verify === true)
      const isBehind = await raiseLastPetId(source, target, verify === true)
      const isEqual = !isBehind && Object.values(tables).every((table) => differences(table) === 0)
      await print(
        json ? JSON.stringify({ equal: isEqual, tables }) : textOf(source, target, tables, { verify, isBehind }),
      )
      if (verify && !isEqual) process.exitCode = 1
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
}

async function open(store: string, flag: string, mustExist: boolean): Promise<OpenedTables> {
  if (isPostgresUrl(store)) return openPostgresTables(store, flag)
  if (mustExist) requireFile(store)
  return openSqliteTables(store)
}

/** Exchanged flags would empty the store that was meant as the source. */
async function requireAnySource(source: OpenedTables, target: OpenedTables): Promise<void> {
  if ((await isEmpty(source)) && !(await isEmpty(target)))
    throw new Error(`${source.name} is empty, and ${target.name} is not: --from names the store to read from`)
}

async function isEmpty(store: OpenedTables): Promise<boolean> {
  for (const table of ['pets', 'keys'] as const)
    if ((await using(store.name, () => store.read(table, FIRST[keyType(table)], 1))).length > 0) return false
  return true
}

async function copyTables(source: OpenedTables, target: OpenedTables, isDry: boolean) {
  const results = {} as Record<TableName, Comparison>
  for (const table of tableNames) {
    if (isDry) results[table] = await carryOut(source, target, table, [])
    else if (table === 'keys') {
      // A superfluous key may have the token of another one, so it must go first.
      const { superfluous } = await carryOut(source, target, table, ['remove'])
      results[table] = { ...(await carryOut(source, target, table, ['write'])), superfluous }
    } else results[table] = await carryOut(source, target, table, ['remove', 'write'])
  }
  return results
}

/** How many rows are read and written at once. */
const AT_ONCE = 500

/** Walks through a table of both stores in the order of the key. Both walks need memory only for one page. */
async function carryOut(
  source: OpenedTables,
  target: OpenedTables,
  table: TableName,
  steps: readonly ('remove' | 'write')[],
): Promise<Comparison> {
  const result: Comparison = { rows: 0, missing: 0, different: 0, superfluous: 0 }
  const written: Row[] = []
  const removed: string[] = []
  const flush = async (least: number) => {
    if (removed.length >= least) {
      const keys = removed.splice(0)
      if (steps.includes('remove')) await using(target.name, () => target.remove(table, keys))
    }
    if (written.length >= least) {
      const rows = written.splice(0)
      if (steps.includes('write')) await using(target.name, () => target.write(table, rows))
    }
  }
  for await (const [sent, found] of pairs(source, target, table)) {
    if (sent === undefined) {
      result.superfluous++
      removed.push((found as Row)[0])
    } else {
      result.rows++
      const isEqual = found !== undefined && JSON.stringify(sent) === JSON.stringify(found)
      if (found === undefined) result.missing++
      else if (!isEqual) result.different++
      if (!isEqual) written.push(sent)
    }
    await flush(AT_ONCE)
  }
  await flush(1)
  return result
}

type Pair = readonly [source: Row | undefined, target: Row | undefined]

/** Yields the rows of both stores with equal keys together, and the others alone. */
async function* pairs(source: OpenedTables, target: OpenedTables, table: TableName): AsyncGenerator<Pair> {
  const sources = rowsOf(source, table)
  const targets = rowsOf(target, table)
  let sent = (await sources.next()).value
  let found = (await targets.next()).value
  while (sent || found) {
    const order = sent && found ? compareKeys(table, sent[0], found[0]) : sent ? -1 : 1
    yield [order <= 0 ? sent : undefined, order >= 0 ? found : undefined] as Pair
    const [isSent, isFound] = [order <= 0, order >= 0]
    if (isSent) sent = (await sources.next()).value
    if (isFound) found = (await targets.next()).value
  }
}

async function* rowsOf(store: OpenedTables, table: TableName): AsyncGenerator<Row, undefined> {
  let after: string | undefined = FIRST[keyType(table)]
  while (after !== undefined) {
    const last: string = after
    const page: readonly Row[] = await using(store.name, () => store.read(table, last, AT_ONCE))
    yield* page
    after = page.length === AT_ONCE ? page.at(-1)?.[0] : undefined
  }
  return undefined
}

/** A key before every key of the type. */
const FIRST = { integer: String(-(2n ** 63n)), text: '', hash: '' } as const

function keyType(table: TableName): keyof typeof FIRST {
  const [[, type]] = columnsOf(table) as [[string, keyof typeof FIRST]]
  return type
}

/** Engines compare texts by their bytes. JavaScript would compare UTF-16 code units, in another order. */
function compareKeys(table: TableName, one: string, other: string): number {
  if (keyType(table) === 'integer') return Number(BigInt(one) - BigInt(other))
  return Buffer.compare(Buffer.from(one), Buffer.from(other))
}

/** Returns whether the target had given fewer ids, so that it could give one of the source again. */
async function raiseLastPetId(source: OpenedTables, target: OpenedTables, isDry: boolean): Promise<boolean> {
  const id = await using(source.name, () => source.lastPetId())
  return using(target.name, async () => {
    const isBehind = BigInt(await target.lastPetId()) < BigInt(id)
    if (isBehind && !isDry) await target.raiseLastPetId(id)
    return isBehind
  })
}

const TITLES = {
  pets: 'animals',
  used_keys: 'idempotency keys',
  keys: 'API keys',
  quota: 'counters',
} as const satisfies Record<TableName, string>

function differences({ missing, different, superfluous }: Comparison): number {
  return missing + different + superfluous
}

function textOf(
  source: OpenedTables,
  target: OpenedTables,
  tables: Readonly<Record<TableName, Comparison>>,
  { verify, isBehind }: { verify: true | undefined; isBehind: boolean },
): string {
  const number = (value: number) => value.toLocaleString('en')
  const lines = tableNames.map((name) => {
    const { rows, missing, different, superfluous } = tables[name]
    const changes = verify
      ? `${number(missing)} missing, ${number(different)} different, ${number(superfluous)} superfluous`
      : `${number(missing)} added, ${number(different)} changed, ${number(superfluous)} removed`
    return `  ${TITLES[name].padEnd(17)}${number(rows).padStart(12)}   ${changes}`
  })
  const heading = verify ? `Compared ${target.name} with ${source.name}:` : `Copied ${source.name} to ${target.name}:`
  const behind =
    verify && isBehind ? ['  The target could give an id again that the source has given: copy once more.'] : []
  return [printable(heading), ...lines, ...behind].join('\n')
}
