import { columnsOf, type Row, replaceAll, type TableAccess, type TableName } from '../shared/tables.ts'
import { prepare, type SqliteDatabase } from './connection.ts'

/** Gives a copy access to the tables of a file. */
export function sqliteTables(database: SqliteDatabase): TableAccess {
  const read = (sql: string, ...values: (string | number)[]) => prepare(database, sql).all(...values)
  // better-sqlite3 permits `all` only for statements that return rows.
  const run = (sql: string, ...values: (string | number)[]) => prepare(database, sql).run(...values)
  return {
    async read(table, after, limit) {
      const rows = read(readStatement(table), after, limit) as { readonly json: string }[]
      return rows.map(({ json }) => JSON.parse(json) as Row)
    },
    async write(table, rows) {
      run(writeStatement(table), JSON.stringify(rows))
    },
    async remove(table, keys) {
      const [[key, type]] = columnsOf(table) as [[string, string]]
      const value = type === 'integer' ? 'CAST(value AS INTEGER)' : 'value'
      run(`DELETE FROM petstore_${table} WHERE ${key} IN (SELECT ${value} FROM json_each(?))`, JSON.stringify(keys))
    },
    async lastPetId() {
      const sequence = "SELECT CAST(seq AS TEXT) AS last FROM sqlite_sequence WHERE name = 'petstore_pets'"
      return (read(sequence)[0] as { last: string } | undefined)?.last ?? '0'
    },
    async raiseLastPetId(id) {
      run("UPDATE sqlite_sequence SET seq = max(seq, CAST(? AS INTEGER)) WHERE name = 'petstore_pets'", id)
      // SQLite has no row for a table that never had one.
      run(
        `INSERT INTO sqlite_sequence (name, seq) SELECT 'petstore_pets', CAST(? AS INTEGER)
          WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'petstore_pets')`,
        id,
      )
    },
  }
}

function readStatement(table: TableName): string {
  const columns = columnsOf(table)
  const [[key, keyType]] = columns as [[string, string]]
  const values = columns.map(([name, type]) => {
    if (type === 'integer') return `CAST(${name} AS TEXT)`
    return type === 'pet' ? `json(${name})` : name
  })
  const after = keyType === 'integer' ? 'CAST(? AS INTEGER)' : '?'
  return `SELECT json_array(${values.join(', ')}) AS json FROM petstore_${table} WHERE ${key} > ${after} ORDER BY ${key} LIMIT ?`
}

function writeStatement(table: TableName): string {
  const columns = columnsOf(table)
  const names = columns.map(([name]) => name)
  const values = columns.map(([, type], i) =>
    type === 'integer' ? `CAST(value ->> ${i} AS INTEGER)` : `value ->> ${i}`,
  )
  if (table === 'quota') {
    // It is only about the last call.
    names.push('last_granted')
    values.push('0')
  }
  // `WHERE true`: without it, SQLite would read ON as a part of the SELECT.
  return `INSERT INTO petstore_${table} (${names.join(', ')}) SELECT ${values.join(', ')} FROM json_each(?)
    WHERE true ON CONFLICT (${names[0]}) DO UPDATE SET ${replaceAll(table)}`
}
