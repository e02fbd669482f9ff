import { unavailable } from '../shared/errors.ts'
import { inBatches, statementRules } from './batches.ts'
import type { Connection } from './connection.ts'

/** Animals that a statement has added, but that may not be on disk yet. */
export interface Unsaved {
  /** A number for the time since PostgreSQL last crashed or `pets` was truncated. */
  readonly run: string
  /** The greatest id of the animals. */
  readonly lastId: bigint
}

/** @param statement - SQL that calls the function `save`, which waits until animals are on disk */
export function postgresSaves({ queryPatiently }: Connection, statement: string, lockTimeout: number) {
  /** A random number that identifies this process. It is drawn late: Workers allow no random numbers while a module loads. */
  let process: number | undefined
  /** The animals of the last save that failed. */
  let failed: Unsaved | undefined

  /**
   * Returns whether each call's animals are on disk. Only the animals of one `run` can be saved: PostgreSQL has crashed since the
   * other runs. The last id of a batch need not be its greatest, because a repeated create has the id of the first one.
   */
  async function saveAll(batch: readonly Unsaved[]): Promise<readonly boolean[]> {
    process ??= Math.floor(Math.random() * 2 ** 52)
    for (const run of new Set(batch.map((unsaved) => unsaved.run))) {
      const ids = batch.filter((unsaved) => unsaved.run === run).map(({ lastId }) => lastId)
      let greatest = ids[0] as bigint
      for (const id of ids) if (id > greatest) greatest = id
      const values = [run, String(greatest), process, lockTimeout]
      const [row] = await queryPatiently<{ readonly saved: boolean }>(statement, values)
      if (row?.saved === true) return batch.map((unsaved) => unsaved.run === run)
    }
    return batch.map(() => false)
  }

  // With a second statement, a call need not wait for the whole commit of the calls before it.
  const saveTogether = inBatches({
    ...statementRules(lockTimeout),
    send: saveAll,
    maxSize: Infinity,
    sizeOf: () => 0,
    concurrency: 2,
  })

  async function save(unsaved: Unsaved): Promise<void> {
    let isSaved: boolean
    try {
      isSaved = await saveTogether(unsaved)
    } catch (error) {
      failed = unsaved
      throw error
    }
    if (!isSaved) throw unavailable(new Error('PostgreSQL crashed, or was emptied, before the animal was on disk'))
  }

  return {
    /** Resolves when the animals are on disk. Rejects with `service_unavailable` if PostgreSQL may have lost them in a crash. */
    save(unsaved: Unsaved): Promise<void> {
      const saved = save(unsaved)
      // If adding the animals took too long, nobody handles a rejection any more, and Node would end the process.
      saved.catch(() => {})
      return saved
    },
    /**
     * Call this before adding animals. If the last save failed, it is tried again; while saving is impossible, creates fail here
     * and add nothing.
     */
    async retryFailed(): Promise<void> {
      const retried = failed
      if (retried === undefined) return
      await saveTogether(retried)
      if (failed === retried) failed = undefined
    },
  }
}
