import { unavailable } from '../shared/errors.ts'
import { inBatches, statementRules } from './batches.ts'
import type { Connection } from './connection.ts'

/** Animals that a statement has added, and that may not be on disk yet. */
export interface Unsaved {
  /** A number for the time since PostgreSQL last crashed or `pets` was truncated. */
  readonly run: string
  /** The greatest id of the animals. */
  readonly lastId: bigint
}

/** Waits for the disk for statements that did not wait themselves. */
export interface Saves {
  /**
   * Resolves when the animals are on disk, so that clients can read them. Calls that wait at the same time share a statement.
   *
   * @throws {PetStoreError} `service_unavailable` if PostgreSQL is unavailable, or crashed after the animals were added
   */
  save(unsaved: Unsaved): Promise<void>
  /**
   * Call this before adding animals. If the last save failed, it is tried again; while saving is impossible, creates fail here and
   * add nothing.
   */
  retryFailed(): Promise<void>
}

/** Creates the part of the storage that waits for the disk, with the statement that calls `save`. */
export function postgresSaves({ queryPatiently }: Connection, statement: string, lockTimeout: number): Saves {
  /** The name of this process in PostgreSQL. It is drawn late, because Workers allow no random numbers while a module loads. */
  let process: number | undefined
  /** The animals of the last save that failed. */
  let failed: Unsaved | undefined

  /**
   * Saves the animals of the run that goes on, up to their greatest id: the id of a repeat is smaller than ids before it, and
   * `retryFailed` saves older animals than other calls. All other runs have ended, so their animals may be lost.
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
    save(unsaved) {
      const saved = save(unsaved)
      // If the animals were added after their time limit, no caller handles a rejection, and Node would end the process.
      saved.catch(() => {})
      return saved
    },
    async retryFailed() {
      const retried = failed
      if (retried === undefined) return
      await saveTogether(retried)
      if (failed === retried) failed = undefined
    },
  }
}
