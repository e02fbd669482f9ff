import { prepare, type SqliteDatabase } from './connection.ts'
import type { Engine } from './d1/connection.ts'
import { IS_THERE, STEPS, VERSION, versionIn } from './schema.ts'
import { inTransaction } from './writer.ts'

/**
 * Brings the schema of a SQLite database up to date. If several processes start together, one migrates while the others wait.
 *
 * @param steps - tests pass further steps
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
 * Brings the schema of a D1 database up to date. Each step is one transaction. If another Worker has just done the same step, the
 * transaction fails, and this function goes on from the version that it then finds.
 *
 * @param steps - tests pass further steps
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
