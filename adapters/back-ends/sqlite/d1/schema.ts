import { IS_THERE, STEPS, VERSION, versionIn } from '../schema.ts'
import type { Engine } from './connection.ts'

/**
 * Brings the schema up to date. Each step is one transaction. If another Worker has just done the same step, the transaction fails,
 * and this function goes on from the version that it then finds.
 *
 * @param steps - tests pass further steps
 */
export async function migrate({ run, transact }: Engine, steps = STEPS): Promise<void> {
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
