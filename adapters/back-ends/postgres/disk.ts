import { unavailable } from '../shared/unavailable.ts'
import { inBatches } from './batches.ts'
import type { Query } from './client.ts'
import { withLockTimeout } from './lock-timeout.ts'
import { dollarQuoted, type Names } from './names.ts'
import { statementRules } from './statement-rules.ts'

/** A write that may not be on disk yet. */
export interface Unsaved {
  /** The run of the server, as `skip_wait` returned it to the statement. */
  readonly run: string
  /** The greatest id of the animals that the statement has added. */
  readonly lastId?: bigint | undefined
}

/** Waits for the disk for statements that did not wait themselves. */
export interface Disk {
  /**
   * Resolves when the write is on disk. Calls that wait at the same time share a statement.
   *
   * @throws {PetStoreError} `service_unavailable` if PostgreSQL is unavailable, or crashed after the write
   */
  wait(unsaved: Unsaved): Promise<void>
  /** Waits in a separate statement. Resolves to `false` if PostgreSQL crashed after the write, which may be lost. */
  save(unsaved: Unsaved): Promise<boolean>
}

/**
 * Returns SQL for a table and two functions. With them, a statement that writes holds its locks only for a moment, and another
 * statement waits for the disk.
 *
 * A transaction that calls `skip_wait` does not wait for the disk when it commits. The function returns a number of the server's
 * run, which a crash ends: PostgreSQL then empties the unlogged table `server_runs`, and the next write adds another number. Each
 * number in the table belongs to this run, so processes that find no number need not wait for each other.
 *
 * `save` waits for the disk. PostgreSQL writes commits to disk in their order, so all earlier commits of the run are on disk too.
 * The function returns false if the run has ended, because the crash may have undone these commits.
 */
export function diskFunctions({ serverRuns, skipWait, save, durable }: Names): string {
  // The number is random, because a crash would also undo a sequence.
  const skipping = `
    DECLARE
      found_run bigint;
    BEGIN
      ${withLockTimeout}
      PERFORM set_config('synchronous_commit', 'off', true);
      SELECT min(r.run) INTO found_run FROM ${serverRuns} AS r;
      IF found_run IS NULL THEN
        found_run := floor(random() * 9e15);
        INSERT INTO ${serverRuns} VALUES (found_run);
      END IF;
      RETURN found_run;
    END
    `
  const saving = `
    BEGIN
      ${withLockTimeout}
      -- If the host began this transaction, skip_wait has turned the wait off for all of it.
      IF current_setting('synchronous_commit') = 'off' THEN SET LOCAL synchronous_commit TO DEFAULT; END IF;
      -- A server that is not yet promoted cannot read an unlogged table.
      IF pg_is_in_recovery() THEN RAISE read_only_sql_transaction; END IF;
      IF NOT EXISTS (SELECT FROM ${serverRuns} AS r WHERE r.run = of_run) THEN RETURN false; END IF;
      -- A commit waits for the disk only if its transaction has written something.
      IF last_id IS NULL THEN PERFORM pg_logical_emit_message(true, 'petstore', '');
      ELSE INSERT INTO ${durable} VALUES (last_id);
      END IF;
      RETURN true;
    END
    `
  return `
    CREATE UNLOGGED TABLE ${serverRuns} (run bigint NOT NULL);
    CREATE FUNCTION ${skipWait}(lock_wait int) RETURNS bigint
    LANGUAGE plpgsql SET lock_timeout = 0 AS ${dollarQuoted(skipping, 'skip')};
    CREATE FUNCTION ${save}(of_run bigint, last_id bigint, lock_wait int) RETURNS boolean
    LANGUAGE plpgsql SET lock_timeout = 0 AS ${dollarQuoted(saving, 'save')};`
}

/** Creates the part of the back end that waits for the disk. */
export function postgresDisk(query: Query, names: Names, lockTimeout: number): Disk {
  const statement = `SELECT ${names.save}($1::bigint, $2::bigint, $3::int) AS saved`

  async function save({ run, lastId }: Unsaved): Promise<boolean> {
    const [row] = await query<{ readonly saved: boolean }>(statement, [run, lastId?.toString() ?? null, lockTimeout])
    return row?.saved === true
  }

  async function saveAll(batch: readonly Unsaved[]): Promise<readonly boolean[]> {
    const results = new Map<string, boolean>()
    for (const run of new Set(batch.map((unsaved) => unsaved.run))) {
      const ids = batch.flatMap((unsaved) => (unsaved.run === run ? (unsaved.lastId ?? []) : []))
      const [lastId] = ids.sort((a, b) => (a < b ? 1 : -1))
      results.set(run, await save({ run, lastId }))
    }
    return batch.map(({ run }) => results.get(run) === true)
  }

  // With a second statement, a call need not wait for the whole commit of the calls before it.
  const saveTogether = inBatches({
    ...statementRules(lockTimeout),
    send: saveAll,
    maxSize: Infinity,
    sizeOf: () => 0,
    concurrency: 2,
  })

  async function waitFor(unsaved: Unsaved): Promise<void> {
    const isSaved = await saveTogether(unsaved)
    if (!isSaved) throw unavailable(new Error('PostgreSQL crashed, or was emptied, before the write was on disk'))
  }

  return {
    wait(unsaved) {
      const saved = waitFor(unsaved)
      // If the write returned after its time limit, no caller handles a rejection, and Node would end the process.
      saved.catch(() => {})
      return saved
    },
    save,
  }
}
