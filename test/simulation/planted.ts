import type { Edit } from './load.ts'

/** Faults that the simulation must find, as changes of the sources in adapters/back-ends/postgres. */
export const PLANTED: Readonly<Record<string, readonly Edit[]>> = {
  'creates take no advisory lock': [
    {
      file: 'schema.ts',
      from: `in the order of their ids.\n      PERFORM pg_advisory_xact_lock(\${LOCK});`,
      to: 'in the order of their ids.',
    },
  ],
  'save does not check the run': [
    {
      file: 'schema.ts',
      from: 'IF NOT EXISTS (SELECT FROM server_runs AS r WHERE r.run = of_run) THEN RETURN false; END IF;',
      to: '',
    },
  ],
  'an animal is acknowledged before it is saved': [{ file: 'storage.ts', from: 'await added.saved\n', to: '\n' }],
  'a list shows animals that are not durable': [
    { file: 'statements.ts', from: `AS p WHERE \${isDurable} ORDER BY`, to: 'AS p ORDER BY' },
  ],
}
