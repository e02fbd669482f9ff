import { withLockTimeout } from './lock-timeout.ts'
import { dollarQuoted, literal, type Names } from './names.ts'

/** The first number of the advisory lock. It sets the lock apart from locks of other applications. */
const LOCK = 1_347_637_588

/** The setting that is `on` while `add_pets` inserts animals, so that the trigger does not mark the animals. */
const DEFERRED = 'petstore_kit.deferred'

/**
 * Returns SQL for version 3 of the schema: a function that adds animals in the given order, and returns their ids.
 *
 * With a sequence alone, a greater id could become visible before a smaller id whose transaction still runs. A client that
 * follows the ids would never see the smaller id. So the function takes a lock before it assigns ids, and holds it until its
 * transaction is visible. Ids are assigned after the sort.
 */
export function createAllFunction(names: Names): string {
  return addFunction(names.createAll, addLocked(names))
}

/**
 * Returns SQL for version 4 of the schema, in which a slow commit delays no other create.
 *
 * `add_pets` works like `create_all`, but leaves the wait for the disk to `save`, so it holds the lock only for a moment. Clients
 * must not read animals that a crash of PostgreSQL could still undo, because later animals would get the same ids. So clients
 * read only animals up to the greatest id in the table `durable`, to which `save` adds ids.
 *
 * Rows that are inserted without `add_pets` are marked by a trigger in their own transaction. Imports and processes of earlier
 * releases insert such rows, perhaps with a role that may not write to `durable`.
 */
export function durableIds(names: Names): string {
  const { addPets, durable, markInserted, pets, petIds, serverRuns } = names
  const add = `
      -- If another transaction has locked this table, fail before an animal is added.
      LOCK TABLE ${durable} IN ROW EXCLUSIVE MODE;
      PERFORM set_config('${DEFERRED}', 'on', true);${addLocked(names)}
      PERFORM set_config('${DEFERRED}', 'off', true);`
  const trigger = `
    BEGIN
      -- Without the run, animals that wait for the disk now are not marked.
      IF TG_OP = 'TRUNCATE' THEN DELETE FROM ${durable}; DELETE FROM ${serverRuns};
      ELSE INSERT INTO ${durable} SELECT max(id) FROM inserted HAVING count(*) > 0;
      END IF;
      RETURN NULL;
    END
    `
  return `
    CREATE TABLE ${durable} (up_to bigint NOT NULL);
    CREATE INDEX durable_by_id ON ${durable} (up_to);
    -- Without this, no row could be deleted in a database with a publication.
    ALTER TABLE ${durable} REPLICA IDENTITY FULL;
    CREATE FUNCTION ${markInserted}() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS ${dollarQuoted(trigger, 'trigger')};
    CREATE TRIGGER mark_inserted AFTER INSERT ON ${pets} REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT
      WHEN (current_setting('${DEFERRED}', true) IS DISTINCT FROM 'on') EXECUTE FUNCTION ${markInserted}();
    CREATE TRIGGER mark_truncated AFTER TRUNCATE ON ${pets} EXECUTE FUNCTION ${markInserted}();
    -- The sequence shows the greatest id even if this transaction has an old snapshot.
    INSERT INTO ${durable} SELECT up_to
      FROM (SELECT greatest(max(id), (SELECT last_value FROM ${petIds} WHERE is_called)) AS up_to FROM ${pets}) AS greatest
      WHERE up_to IS NOT NULL;
    ${addFunction(addPets, add)}`
}

/** How many of the greatest ids the table `durable` keeps. With fewer, PostgreSQL may read the whole table to find the greatest. */
const KEPT_IDS = 100
const PRUNED_AT_ONCE = 1_000

/** Returns the statement that removes ids of `durable` that are no longer needed. It skips rows that another process removes. */
export function pruneDurable({ durable }: Names): string {
  return `DELETE FROM ${durable} WHERE ctid = ANY (ARRAY(
  SELECT ctid FROM ${durable}
  WHERE up_to < (SELECT up_to FROM ${durable} ORDER BY up_to DESC OFFSET ${KEPT_IDS - 1} LIMIT 1)
  ORDER BY up_to LIMIT ${PRUNED_AT_ONCE} FOR UPDATE SKIP LOCKED))`
}

function addLocked({ pets, petIds }: Names): string {
  return `
      PERFORM pg_advisory_xact_lock(${LOCK}, ${literal(pets)}::regclass::oid::int);
      RETURN QUERY INSERT INTO ${pets} AS p (id, name, category_id, status)
        SELECT nextval(${literal(petIds)}), pet->>0, (pet->>1)::bigint, pet->>2
        FROM json_array_elements(given) WITH ORDINALITY AS each (pet, place) ORDER BY place
        RETURNING p.id;`
}

function addFunction(name: string, statements: string): string {
  return `
    CREATE FUNCTION ${name}(given json, lock_wait int) RETURNS SETOF bigint
    LANGUAGE plpgsql SET lock_timeout = 0 AS ${dollarQuoted(
      `
    BEGIN
      ${withLockTimeout}${statements}
    END
    `,
      'add_pets',
    )};`
}
