import { IS_THERE, STEPS, VERSION, versionIn } from './schema.ts'
import { prepare, type SqliteDatabase } from './connection.ts'
import { inTransaction } from './writer.ts'

/**
 * Brings the schema up to date. If several processes start together, one migrates while the others wait.
 *
 * @param steps - tests pass further steps
 */
export function migrate(database: SqliteDatabase, steps = STEPS): void {
  const rows = (sql: string) => prepare(database, sql).all()
  const readVersion = () => (rows(IS_THERE).length === 0 ? 0 : versionIn(rows(VERSION), steps.length))
  if (readVersion() === steps.length) return
  inTransaction(database, () => {
    for (const step of steps.slice(readVersion())) database.exec(step)
  })
}
