import { columnsOf, type Row, replaceAll, type TableAccess, type TableName } from '../shared/tables.ts'
import { type PostgresClient, queryOf } from './connection.ts'

/** Gives a copy access to the tables of a schema. */
export function postgresTables(client: PostgresClient, schema = 'petstore'): TableAccess {
  const query = queryOf(client)
  const sequence = `${schema}.pet_ids`
  async function lastPetId(): Promise<string> {
    // A new sequence is not `called` yet: then its last value is the next id.
    const text = `SELECT (last_value - CASE WHEN is_called THEN 0 ELSE 1 END)::text AS last FROM ${sequence}`
    return (await query<{ last: string }>(text))[0]?.last ?? '0'
  }
  return {
    async read(table, after, limit) {
      const rows = await query<{ json: string }>(readStatement(schema, table), [after, limit])
      return rows.map(({ json }) => JSON.parse(json) as Row)
    },
    async write(table, rows) {
      await query(writeStatement(schema, table), [JSON.stringify(rows)])
    },
    async remove(table, keys) {
      const [[key, type]] = columnsOf(table) as [[string, string]]
      const values = `SELECT ${stored('value', type)} FROM json_array_elements_text($1::text::json) AS value`
      await query(`DELETE FROM ${schema}.${table} WHERE ${key} IN (${values})`, [JSON.stringify(keys)])
    },
    lastPetId,
    async raiseLastPetId(id) {
      if (BigInt(id) > BigInt(await lastPetId())) await query(`SELECT setval('${sequence}', $1::bigint)`, [id])
    },
  }
}

/** Returns SQL that converts a text to the type of a column. */
function stored(text: string, type: string): string {
  if (type === 'integer') return `(${text})::bigint`
  return type === 'hash' ? `decode(${text}, 'hex')` : `(${text})`
}

function readStatement(schema: string, table: TableName): string {
  const columns = columnsOf(table)
  const [[key, keyType]] = columns as [[string, string]]
  const values = columns.map(([name, type]) => {
    if (type === 'integer') return `${name}::text`
    if (type === 'hash') return `encode(${name}, 'hex')`
    return type === 'pet'
      ? "json_build_array(pet ->> 'id', pet ->> 'name', pet ->> 'category', pet ->> 'status')"
      : name
  })
  return `SELECT json_build_array(${values.join(', ')})::text AS json FROM ${schema}.${table}
    WHERE ${key} > ${stored('$1::text', keyType)} ORDER BY ${key} LIMIT $2::bigint`
}

function writeStatement(schema: string, table: TableName): string {
  const columns = columnsOf(table)
  const names = columns.map(([name]) => name)
  const values = columns.map(([, type], i) => (type === 'pet' ? petIn(i) : stored(`entry ->> ${i}`, type)))
  let replaced = replaceAll(table)
  if (table === 'quota') {
    // PostgreSQL deletes old counts by this column.
    names.push('ends_at')
    const at = (name: string) => stored(`entry ->> ${names.indexOf(name)}`, 'integer')
    values.push(`greatest(${at('day_ends_at')}, ${at('banned_until')})`)
    replaced += ', ends_at = excluded.ends_at'
  }
  return `INSERT INTO ${schema}.${table} (${names.join(', ')})
    SELECT ${values.join(', ')} FROM json_array_elements($1::text::json) AS entry
    ON CONFLICT (${names[0]}) DO UPDATE SET ${replaced}`
}

function petIn(column: number): string {
  const value = (i: number) => `entry -> ${column} ->> ${i}`
  return `json_build_object('id', (${value(0)})::bigint, 'name', ${value(1)}, 'category', (${value(2)})::bigint, 'status', ${value(3)})`
}
