import { withLockTimeout } from './lock-timeout.ts'
import { dollarQuoted, literal, type Names } from './names.ts'

/** The first number of the advisory lock. It sets the lock apart from locks of other applications. */
const LOCK = 1_347_637_588

/**
 * Returns SQL that creates a function. The function adds animals in the given order, and returns their ids.
 *
 * With a sequence alone, a greater id could become visible before a smaller id whose transaction still runs. A client that
 * follows the ids would never see the smaller id. So the function takes a lock before it assigns ids, and holds it until its
 * transaction is visible. Ids are assigned after the sort.
 */
export function createAllFunction({ createAll, pets, petIds }: Names): string {
  const body = `
    BEGIN
      ${withLockTimeout}
      PERFORM pg_advisory_xact_lock(${LOCK}, ${literal(pets)}::regclass::oid::int);
      RETURN QUERY INSERT INTO ${pets} AS p (id, name, category_id, status)
        SELECT nextval(${literal(petIds)}), pet->>0, (pet->>1)::bigint, pet->>2
        FROM json_array_elements(given) WITH ORDINALITY AS each (pet, place) ORDER BY place
        RETURNING p.id;
    END
    `
  return `
    CREATE FUNCTION ${createAll}(given json, lock_wait int) RETURNS SETOF bigint
    LANGUAGE plpgsql SET lock_timeout = 0 AS ${dollarQuoted(body, 'create_all')};`
}
