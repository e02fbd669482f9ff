import { laterSchema } from '../shared/later-schema.ts'
import { IS_THERE, STEPS, VERSION } from '../sqlite-dialect/schema.ts'
import type { Engine } from './connection.ts'

/**
 * Brings the schema up to date. Each step is one transaction. If another Worker has just done the same step, the transaction fails,
 * and this function goes on from the version that it then finds.
 *
 * @param steps - tests pass further steps
 */
export async function migrate(engine: Engine, steps = STEPS): Promise<void> {
  for (let version = await readVersion(engine, steps.length); version < steps.length; ) {
    try {
      await engine.transact(statementsOf(steps[version] as string))
      version += 1
    } catch (error) {
      const now = await readVersion(engine, steps.length)
      if (now === version) throw error
      version = now
    }
  }
}

/** Splits a step after its semicolons, because D1 prepares one statement at a time. */
function statementsOf(step: string): [sql: string][] {
  return step.split(/(?<=;)\s*(?=\S)/).map((sql) => [sql])
}

async function readVersion({ run }: Engine, latest: number): Promise<number> {
  if ((await run(IS_THERE)).length === 0) return 0
  const [row] = await run<{ readonly version: number }>(VERSION)
  const version = row?.version ?? 0
  if (version > latest) throw laterSchema('database', latest, version)
  return version
}
