import type { Edit } from './load.ts'

/** The text in `saves.ts` that passes the greatest id to PostgreSQL. Some of the faults replace it. */
const GREATEST = 'String(greatestOf(ids))'

/** Faults that the simulation must find, as changes of the sources in adapters/back-ends/postgres, and the rule that each breaks. */
export const PLANTED: Readonly<Record<string, { readonly rule: string; readonly edits: readonly Edit[] }>> = {
  'a save takes the last id of its batch': {
    rule: 'An animal answered with 201',
    edits: [{ file: 'saves.ts', from: GREATEST, to: 'String(ids.at(-1))' }],
  },
  'a save takes the first id of its batch': {
    rule: 'An animal answered with 201',
    edits: [{ file: 'saves.ts', from: GREATEST, to: 'String(ids[0])' }],
  },
  'an earlier failure decides the id that is saved': {
    rule: 'An animal answered with 201',
    edits: [
      {
        file: 'saves.ts',
        from: GREATEST,
        to: 'String(batch.find((one) => one === failed)?.lastId ?? greatestOf(ids))',
      },
    ],
  },
  'creates take no advisory lock': {
    rule: 'No crash takes back an animal',
    edits: [
      {
        file: 'schema.ts',
        from: `in the order of their ids.\n      PERFORM pg_advisory_xact_lock(\${CREATE_LOCK});`,
        to: 'in the order of their ids.',
      },
    ],
  },
  'save does not check the run': {
    rule: 'No crash takes back an animal',
    edits: [
      {
        file: 'schema.ts',
        from: 'IF NOT EXISTS (SELECT FROM server_runs AS r WHERE r.run = of_run) THEN RETURN false; END IF;',
        to: '',
      },
    ],
  },
  'an animal is acknowledged before it is saved': {
    rule: 'An animal answered with 201',
    edits: [{ file: 'storage.ts', from: 'await added.saved\n', to: '\n' }],
  },
  'a key is stored in another transaction than its animal': {
    rule: 'One key adds one animal',
    edits: [
      { file: 'schema.ts', from: 'WHERE a.key IS NOT NULL\n', to: 'WHERE false\n' },
      {
        file: 'storage.ts',
        from: 'return rows.map((row) => ({ row, saved }))\n',
        to: `for (const [index, { key: used }] of given.entries())
          if (used !== null && typeof rows[index].same !== 'boolean') {
            const [scope, key, fingerprint] = JSON.parse(used)
            await query(
              \`INSERT INTO \${schema}.used_keys
                SELECT sha256(convert_to($1, 'UTF8')), '', sha256(convert_to($2, 'UTF8')), $3::bigint, $4::float8
                ON CONFLICT DO NOTHING\`,
              [scope + key, fingerprint, rows[index].id, 1e12],
            )
          }
        return rows.map((row) => ({ row, saved }))\n`,
      },
    ],
  },
  'lists show animals that are not durable': {
    rule: 'No crash takes back an animal',
    edits: [{ file: 'statements.ts', from: `AS p WHERE \${isDurable} ORDER BY`, to: 'AS p ORDER BY' }],
  },
}
