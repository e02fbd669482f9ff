import { unavailable } from '../shared/errors.ts'
import { inBatches, statementRules } from './batches.ts'
import type { Connection } from './connection.ts'

/** Animals that a statement has added, but that may not be on disk yet. */
export interface Unsaved {
  /** The random number of a run. A run ends when PostgreSQL crashes or `pets` is truncated. */
  readonly run: string
  readonly lastId: bigint
}

const LOST =
  'PostgreSQL crashed, or pets was truncated, before the animal was on disk, so it may be lost: a client with an idempotency key can send the animal again'

/** @param statement - SQL that calls the function `save`, which waits until animals are on disk */
export function postgresSaves({ queryPatiently }: Connection, statement: string, lockTimeout: number) {
  /** A random number for this process, chosen at the first save: Workers allow no random numbers while a module loads. */
  let process: number | undefined
  let failed: Unsaved | undefined

  /**
   * Returns, for each call, whether its animals are certainly on disk. Those of an earlier run may be lost. Sends the greatest id
   * of each run: the last call may have a smaller one, because a repeated create has the id of the first create.
   */
  async function saveAll(batch: readonly Unsaved[]): Promise<readonly boolean[]> {
    process ??= Math.floor(Math.random() * 2 ** 52)
    for (const run of new Set(batch.map((unsaved) => unsaved.run))) {
      const ids = batch.filter((unsaved) => unsaved.run === run).map(({ lastId }) => lastId)
      const values = [run, String(greatestOf(ids)), process, lockTimeout]
      const [row] = await queryPatiently<{ readonly saved: boolean }>(statement, values)
      if (row?.saved === true) return batch.map((unsaved) => unsaved.run === run)
    }
    return batch.map(() => false)
  }

  // If only one statement could run at a time, a call that arrives during a commit would wait for the end of that commit.
  const saveTogether = inBatches({ ...statementRules(lockTimeout), send: saveAll, concurrency: 2 })

  return {
    /** Resolves when the animals are on disk. Rejects with `service_unavailable` if PostgreSQL may have lost them in a crash. */
    save(unsaved: Unsaved): Promise<void> {
      const saved = saveTogether(unsaved).then(
        (isSaved) => {
          if (!isSaved) throw unavailable(new Error(LOST))
        },
        (error) => {
          failed = unsaved
          throw error
        },
      )
      // If adding the animals took too long, nobody waits for `saved` any more, and its rejection would end the process.
      saved.catch(() => {})
      return saved
    },
    /** Call this before adding animals: it repeats a failed save. While saving is impossible, creates fail here and add nothing. */
    async retryFailed(): Promise<void> {
      const retried = failed
      if (retried === undefined) return
      await saveTogether(retried)
      if (failed === retried) failed = undefined
    },
  }
}

export function greatestOf(ids: readonly bigint[]): bigint {
  let greatest = ids[0] as bigint
  for (const id of ids) if (id > greatest) greatest = id
  return greatest
}
