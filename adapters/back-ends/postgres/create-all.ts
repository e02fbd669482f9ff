import { withLockTimeout } from './lock-timeout.ts'
import { dollarQuoted, literal, type Names } from './names.ts'

/** The first key of the advisory lock, so that it differs from locks of the host. */
const LOCK = 1_347_637_588

/**
 * Returns the function that adds animals in the order in which they are given, and returns their ids.
 *
 * With a sequence alone, a greater id could become visible before a smaller one whose transaction still runs, and a client that
 * follows the ids would skip it forever. So the function waits for a lock, which is held until its transaction is visible, before
 * it assigns an id. An id is assigned after the sort.
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
