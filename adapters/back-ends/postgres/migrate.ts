import { PetStoreError } from '../../../src/errors.ts'
import type { OptionRule } from '../../../src/support/option-rules.ts'
import { laterSchema } from '../shared/errors.ts'
import type { Query } from './connection.ts'
import { STEPS } from './schema.ts'

const MIGRATION_LOCK = 7_382_615_401

/** PostgreSQL cuts longer names without an error, so two different names could become equal. */
const NAME_BYTES = 63

/** The SQLSTATE code for a schema that a later release has migrated. The message of the error is the version of the schema. */
const LATER = 'PSK01'

const OLDEST_MAJOR = 12

/** Names of other servers whose `version()` begins like PostgreSQL's. They are rejected. */
const IMITATION = /-YB-|Redshift|Greenplum|QuestDB/

export const schemaRule: OptionRule = {
  expected: `a name of 1 to ${NAME_BYTES} bytes that does not begin with "pg_"`,
  check(name) {
    if (typeof name !== 'string' || name === '' || name.startsWith('pg_')) return false
    return name.isWellFormed() && !name.includes('\u0000') && new TextEncoder().encode(name).length <= NAME_BYTES
  },
}

export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/**
 * The migration is one statement, because a pooler could divide several statements between connections. A lock makes processes
 * migrate one after another. Tests pass other steps.
 *
 * @param schema - the quoted name of the schema
 */
export async function migrate(query: Query, schema: string, steps = STEPS): Promise<void> {
  await requirePostgres(query)
  try {
    await query(`DO ${dollarQuoted(program(schema, steps))}`)
  } catch (error) {
    const { code, message } = error as { code?: unknown; message?: unknown }
    throw code === LATER ? laterSchema('schema', steps.length, Number(message), error) : error
  }
}

/** Throws if the server is not PostgreSQL and only speaks its protocol: such a server could lose animals. */
async function requirePostgres(query: Query): Promise<void> {
  const [row] = await query<object>('SELECT version()')
  const version = String(Object.values(row ?? {})[0])
  const [, major] = /^PostgreSQL (\d+)/.exec(version) ?? []
  if (Number(major) >= OLDEST_MAJOR && !IMITATION.test(version)) return
  throw new PetStoreError(
    'invalid_option',
    `option client: expected PostgreSQL ${OLDEST_MAJOR} or later, but the server says that it is "${version.slice(0, 100)}". ` +
      'Its advisory locks, unlogged tables and triggers may differ, so animals could be lost: ' +
      'connect to PostgreSQL itself, or write a back end for this server',
  )
}

/** Returns the migration in PL/pgSQL. If `pg_temp` were not last in `search_path`, temporary tables could hide our tables. */
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
BEGIN
  PERFORM pg_advisory_xact_lock(${MIGRATION_LOCK});
  IF to_regnamespace(${dollarQuoted(schema)}) IS NULL THEN CREATE SCHEMA ${schema}; END IF;
  IF to_regclass(${dollarQuoted(versions)}) IS NULL THEN
    CREATE TABLE ${versions} (version int PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now());
  END IF;
  SELECT coalesce(max(v.version), 0) INTO version FROM ${versions} AS v;
  IF version > ${steps.length} THEN RAISE EXCEPTION '%', version USING ERRCODE = '${LATER}'; END IF;
  PERFORM set_config('search_path', ${dollarQuoted(`${schema}, pg_temp`)}, true);${guardedSteps.join('')}
  PERFORM set_config('search_path', old_path, true);
END`
}

/** Puts a text between two tags `$petstore$`. Adds `_` to the tags until the text contains nothing that would end the quote. */
function dollarQuoted(text: string): string {
  let tag = '$petstore$'
  while (`${text}${tag}`.indexOf(tag) < text.length) tag = tag.replace(/\$$/, '_$')
  return tag + text + tag
}
