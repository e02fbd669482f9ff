import { prepare, type SqliteDatabase } from './connection.ts'
import type { Engine } from './d1/connection.ts'
import { IS_THERE, STEPS, VERSION, versionIn } from './schema.ts'
import { inTransaction } from './writer.ts'

/**
 * If several processes start together, one migrates while the others wait. Tests pass other steps.
 */
export function migrateSqlite(database: SqliteDatabase, steps = STEPS): void {
  const rows = (sql: string) => prepare(database, sql).all()
  const readVersion = () => (rows(IS_THERE).length === 0 ? 0 : versionIn(rows(VERSION), steps.length))
  if (readVersion() === steps.length) return
  inTransaction(database, () => {
    for (const step of steps.slice(readVersion())) database.exec(step)
  })
}

/**
 * Each step is one transaction. If another Worker has just done the same step, the transaction
 * fails, and this function continues with the version that it finds then. Tests pass other steps.
 */
export async function migrateD1({ run, transact }: Engine, steps = STEPS): Promise<void> {
  const readVersion = async () => ((await run(IS_THERE)).length === 0 ? 0 : versionIn(await run(VERSION), steps.length))
  for (let version = await readVersion(); version < steps.length; ) {
    try {
      await transact(statementsOf(steps[version] as string))
      version += 1
    } catch (error) {
      const now = await readVersion()
      if (now === version) throw error
      version = now
    }
  }
}

/** Splits a step after its semicolons, because D1 prepares one statement at a time. */
function statementsOf(step: string): [sql: string][] {
  return step.split(/(?<=;)\s*(?=\S)/).map((sql) => [sql])
}
