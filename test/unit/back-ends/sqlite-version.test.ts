import { expect, test, vi } from 'vitest'
import type { SqliteDatabase } from '../../../adapters/back-ends/sqlite/index.ts'
import { mayDamageFile, reportVersion } from '../../../adapters/back-ends/sqlite/version.ts'

function databaseWith(version: string, journalMode: string): SqliteDatabase {
  const rowsOf = (sql: string) => (sql.includes('sqlite_version') ? [{ version }] : [{ journal_mode: journalMode }])
  return { prepare: (sql) => ({ all: () => rowsOf(sql), run: () => {} }), exec: () => {} }
}

test('knows the versions of SQLite that may damage a file', () => {
  const unsafe = ['3.38.0', '3.44.5', '3.45.1', '3.47.2', '3.50.6', '3.51.2']
  const safe = ['3.44.6', '3.50.7', '3.51.3', '3.52.0', '3.53.4', '3.54.1']
  expect([...unsafe, ...safe].filter(mayDamageFile)).toEqual(unsafe)
})

test.each([
  ['3.45.1', 'wal', ['SQLite 3.45.1 may damage a file that several connections use']],
  ['3.45.1', 'memory', []],
  ['3.51.3', 'wal', []],
] as const)('reports SQLite %s with the journal mode %s as documented', (version, journalMode, expected) => {
  const onError = vi.fn()
  reportVersion(databaseWith(version, journalMode), onError)
  expect(onError.mock.calls.map(([error]) => error.message.split(':')[0])).toEqual(expected)
})
