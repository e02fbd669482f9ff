import { inBatches } from '../shared/batches.ts'
import { unavailable } from '../shared/unavailable.ts'
import type { Query } from './client.ts'
import { withLockTimeout } from './lock-timeout.ts'
import { dollarQuoted, type Names } from './names.ts'
import { statementRules } from './statement-rules.ts'

/** What a statement has written without waiting for the disk. */
export interface Unsaved {
  /** The run of the server, as `server_run` returned it to the statement. */
  readonly run: string
  /** The greatest id of the animals that the statement has added. */
  readonly lastId?: bigint | undefined
}

/** Waits for the disk for statements that did not wait themselves. */
export interface Disk {
  /**
   * Resolves when what was written is on disk. Calls share statements.
   *
   * @throws {PetStoreError} `service_unavailable` if PostgreSQL is unavailable, or has crashed since
   */
  wait(unsaved: Unsaved): Promise<void>
  /** Does the same with a separate statement. Resolves to `false` if PostgreSQL has crashed since: what was written may be lost. */
  save(unsaved: Unsaved): Promise<boolean>
}

/**
 * Returns SQL for two functions. With them, a statement that writes holds its locks only for a moment, and another statement waits
 * for the disk.
 *
 * A transaction that calls `server_run` does not wait for the disk when it commits. The function returns the number of the server's
 * run. A crash ends the run: PostgreSQL then empties the unlogged table `server_runs`, which gets another number.
 *
 * `save` waits for the disk. PostgreSQL writes commits to disk in their order, so all earlier commits of the run are on disk too.
 * The function returns false if the run has ended, because the crash may have undone these commits.
 */
export function waitForDisk({ serverRuns, serverRun, save, durable }: Names): string {
  const run = `
    DECLARE
      found_run bigint;
    BEGIN
      PERFORM set_config('synchronous_commit', 'off', true);
      LOOP
        SELECT r.run INTO found_run FROM ${serverRuns} AS r;
        EXIT WHEN FOUND;
        INSERT INTO ${serverRuns} VALUES (true, floor(random() * 9e15)) ON CONFLICT DO NOTHING;
      END LOOP;
      RETURN found_run;
    END
    `
  const saving = `
    BEGIN
      ${withLockTimeout}
      -- In a transaction of the host, the commit must wait for the disk as the host expects.
      SET LOCAL synchronous_commit TO DEFAULT;
      IF NOT EXISTS (SELECT FROM ${serverRuns} AS r WHERE r.run = of_run) THEN RETURN false; END IF;
      -- A commit waits for the disk only if its transaction has written something.
      IF last_id IS NULL THEN PERFORM pg_logical_emit_message(true, 'petstore', '');
      ELSE INSERT INTO ${durable} VALUES (last_id);
      END IF;
      RETURN true;
    END
    `
  return `
    CREATE UNLOGGED TABLE ${serverRuns} (is_only boolean PRIMARY KEY CHECK (is_only), run bigint NOT NULL);
    CREATE FUNCTION ${serverRun}() RETURNS bigint LANGUAGE plpgsql AS ${dollarQuoted(run, 'run')};
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
    const { run } = batch.at(-1) as Unsaved
    const ids = batch.flatMap((unsaved) => (unsaved.run === run ? (unsaved.lastId ?? []) : []))
    const [lastId] = ids.sort((a, b) => (a < b ? 1 : -1))
    const isSaved = await save({ run, lastId })
    return batch.map((unsaved) => isSaved && unsaved.run === run)
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
    if (!isSaved) throw unavailable(new Error('PostgreSQL crashed before it had written to disk'))
  }

  return {
    wait(unsaved) {
      const saved = waitFor(unsaved)
      // If the statement that has written came too late, nobody waits any more.
      saved.catch(() => {})
      return saved
    },
    save,
  }
}
