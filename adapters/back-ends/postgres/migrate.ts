import { PetStoreError } from '../../../src/errors.ts'
import { laterSchema } from '../shared/errors.ts'
import type { Query } from './connection.ts'
import { sqlStateOf } from './errors.ts'
import { dollarQuoted, STEPS } from './schema.ts'

const MIGRATION_LOCK = 7_382_615_401

/**
 * The SQLSTATE code for a schema that a later release has migrated. The message of the error is the
 * version of the schema.
 */
const LATER = 'PSK01'
/**
 * The SQLSTATE code for a database that cannot store every name. The message of the error is its
 * encoding.
 */
const ENCODING = 'PSK02'

/** The SQLSTATE code `insufficient_privilege`. */
const NO_RIGHTS = '42501'

const OLDEST_MAJOR = 12

/** Names of other servers whose `version()` begins like PostgreSQL's. They are rejected. */
const IMITATION = /-YB-|Redshift|Greenplum|QuestDB/

/**
 * The migration is one statement, because a pooler could divide several statements between
 * connections. A lock makes processes migrate one after another. Tests pass other steps.
 *
 * @param schema - the quoted name of the schema
 */
export async function migrate(query: Query, schema: string, steps = STEPS): Promise<void> {
  await requirePostgres(query)
  try {
    await query(`DO ${dollarQuoted(program(schema, steps))}`)
  } catch (error) {
    const { message } = error as { message?: unknown }
    const state = sqlStateOf(error)
    if (state === LATER) throw laterSchema('schema', steps.length, Number(message), error)
    if (state === ENCODING) throw wrongEncoding(String(message), error)
    if (state === NO_RIGHTS) throw missingRights(String(message), schema, error)
    throw error
  }
}

/**
 * Throws if the server is not PostgreSQL and only speaks its protocol: such a server could lose
 * animals.
 */
async function requirePostgres(query: Query): Promise<void> {
  const [row] = await query<object>('SELECT version()')
  const version = String(Object.values(row ?? {})[0])
  const [, major] = /^PostgreSQL (\d+)/.exec(version) ?? []
  if (Number(major) >= OLDEST_MAJOR && !IMITATION.test(version)) return
  throw new PetStoreError(
    'invalid_option',
    `option client: expected PostgreSQL ${OLDEST_MAJOR} or later, but the server says that it is "${version.slice(0, 100)}". ` +
      'Its locks and sequences may differ, so animals could be lost or skipped: ' +
      'connect to PostgreSQL itself, or write a back end for this server',
  )
}

function wrongEncoding(encoding: string, cause: unknown): PetStoreError {
  const message = `option client: expected a database with the encoding UTF8, got ${encoding}, which cannot store every name: create one with CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0`
  return new PetStoreError('invalid_option', message, { cause })
}

function missingRights(reason: string, schema: string, cause: unknown): PetStoreError {
  const message =
    `option client: expected a role that may create or repair the tables in the schema ${schema}, got "${reason}". ` +
    'Call migrate() once as the owner of the schema or, for a new schema, as a role with CREATE on the database. ' +
    'After that, this role needs only the rights that docs/back-ends.md lists'
  return new PetStoreError('invalid_option', message, { cause })
}

/**
 * Runs at each migration. A restored or replicated database may lack the row of `turn`, and its
 * sequence may be behind the animals: logical replication copies rows, but not sequences. Each
 * create would then get an id that exists. The lock keeps out creates only while the sequence is
 * moved. A role that may not even look repairs nothing: reading the version must be enough.
 */
const REPAIR = `
  BEGIN
    lacks_row := NOT EXISTS (SELECT FROM turn);
    is_behind := (${isBehind()});
  EXCEPTION WHEN insufficient_privilege THEN
    lacks_row := false;
    is_behind := false;
  END;
  IF lacks_row THEN INSERT INTO turn VALUES (1) ON CONFLICT DO NOTHING; END IF;
  IF is_behind THEN
    LOCK TABLE pets IN SHARE ROW EXCLUSIVE MODE;
    IF (${isBehind()}) THEN PERFORM setval('pet_ids', (SELECT max(id) FROM pets)); END IF;
  END IF;`

/** A new sequence is not `called` yet: then its last value is the next id. */
function isBehind(): string {
  return 'SELECT last_value - CASE WHEN is_called THEN 0 ELSE 1 END < (SELECT max(id) FROM pets) FROM pet_ids'
}

/**
 * Returns the migration in PL/pgSQL. If `pg_temp` were not last in `search_path`, temporary tables
 * could hide our tables.
 */
function program(schema: string, steps: readonly string[]): string {
  const versions = `${schema}.versions`
  const guardedSteps = steps.map(
    (step, index) => `
  IF version < ${index + 1} THEN
    ${step}
    INSERT INTO ${versions} (version) VALUES (${index + 1});
  END IF;`,
  )
  return `
DECLARE
  version int;
  old_path text := current_setting('search_path');
  encoding text := current_setting('server_encoding');
  lacks_row boolean;
  is_behind boolean;
BEGIN
  IF encoding <> 'UTF8' THEN RAISE EXCEPTION '%', encoding USING ERRCODE = '${ENCODING}'; END IF;
  PERFORM pg_advisory_xact_lock(${MIGRATION_LOCK});
  IF to_regnamespace(${dollarQuoted(schema)}) IS NULL THEN CREATE SCHEMA ${schema}; END IF;
  IF to_regclass(${dollarQuoted(versions)}) IS NULL THEN
    CREATE TABLE ${versions} (version int PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now());
  END IF;
  SELECT coalesce(max(v.version), 0) INTO version FROM ${versions} AS v;
  IF version > ${steps.length} THEN RAISE EXCEPTION '%', version USING ERRCODE = '${LATER}'; END IF;
  PERFORM set_config('search_path', ${dollarQuoted(`${schema}, pg_temp`)}, true);${guardedSteps.join('')}${REPAIR}
  PERFORM set_config('search_path', old_path, true);
END`
}
