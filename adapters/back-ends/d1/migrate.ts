import { laterSchema } from '../shared/later-schema.ts'
import { MIGRATIONS } from '../sqlite/migrations.ts'
import type { Engine } from './database.ts'

const VERSION_TABLE = `SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'petstore_schema'`

/** The statements of each migration, from version 0 on. The build writes them to files for `wrangler d1 migrations apply`. */
export const steps: readonly (readonly string[])[] = MIGRATIONS.map(statementsOf)

/** Splits a migration at semicolons: D1 prepares one statement at a time. No string in a migration contains a semicolon. */
function statementsOf(migration: string): string[] {
  return migration
    .split(';')
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '')
}

/**
 * Brings the schema up to date. Each step is one transaction. If another Worker has just done the same step, the transaction fails,
 * and this function goes on from the version that it then finds.
 */
export async function migrate(engine: Engine): Promise<void> {
  for (let version = await readVersion(engine); version < steps.length; ) {
    try {
      await engine.transact((steps[version] as readonly string[]).map((sql) => [sql]))
      version += 1
    } catch (error) {
      const now = await readVersion(engine)
      if (now === version) throw error
      version = now
    }
  }
}

async function readVersion({ run }: Engine): Promise<number> {
  if ((await run(VERSION_TABLE)).length === 0) return 0
  const [row] = await run<{ readonly version: number }>('SELECT version FROM petstore_schema')
  const version = row?.version ?? 0
  if (version > steps.length) throw laterSchema('database', steps.length, version)
  return version
}
