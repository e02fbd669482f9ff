import { laterSchema } from '../shared/later-schema.ts'
import { IS_THERE, STEPS, VERSION } from '../sqlite-dialect/schema.ts'
import { prepare, type SqliteDatabase } from './connection.ts'
import { inTransaction } from './writer.ts'

/**
 * Brings the schema up to date. If several processes start together, one migrates while the others wait.
 *
 * @param steps - tests pass further steps
 */
export function migrate(database: SqliteDatabase, steps = STEPS): void {
  if (readVersion(database, steps.length) === steps.length) return
  inTransaction(database, () => {
    for (const step of steps.slice(readVersion(database, steps.length))) database.exec(step)
  })
}

/** Returns the schema version; 0 for an empty database. */
function readVersion(database: SqliteDatabase, latest: number): number {
  if (prepare(database, IS_THERE).all().length === 0) return 0
  const [row] = prepare(database, VERSION).all() as { version: number | bigint }[]
  const version = Number(row?.version ?? 0)
  if (version > latest) throw laterSchema('database', latest, version)
  return version
}
