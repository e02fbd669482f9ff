import type { NewPet, Pet, PetQuery } from '../../../src/index.ts'
import type { SqliteValue } from '../sqlite/connection.ts'

/** An animal in the JSON text of a query's result. */
type Row = readonly [id: string, name: string, categoryId: string, status: Pet['status'] | null]

/** A result row with one JSON text: a page of animals, or one animal. */
export interface Json {
  readonly json: string
}

/** 64-bit integers are text, because a JSON number would lose digits. */
const ROW = 'json_array(CAST(id AS TEXT), name, CAST(category_id AS TEXT), status)'
const FOLLOWING = 'id > CAST(? AS INTEGER) ORDER BY id LIMIT ?'

/**
 * The statements for the table of animals.
 *
 * A page is one JSON text, because passing rows and columns from SQLite to JavaScript costs more than parsing. The statement
 * names the index, because after `ANALYZE` SQLite might read all ids instead.
 */
export const petStatements = {
  page: `SELECT json_group_array(${ROW}) AS json FROM (SELECT * FROM petstore_pets WHERE ${FOLLOWING})`,
  pageOfStatus: `SELECT json_group_array(${ROW}) AS json
    FROM (SELECT * FROM petstore_pets INDEXED BY petstore_pets_by_status WHERE status = ? AND ${FOLLOWING})`,
  get: `SELECT ${ROW} AS json FROM petstore_pets WHERE id = CAST(? AS INTEGER)`,
  insert: `INSERT INTO petstore_pets (name, category_id, status) VALUES (?, CAST(? AS INTEGER), ?)
    RETURNING CAST(id AS TEXT) AS id`,
} as const

/** Returns the parameter values for `page` or, with a status, for `pageOfStatus`. */
export function pageValues({ limit, after = 0n, status }: PetQuery): SqliteValue[] {
  return status === undefined ? [String(after), limit] : [status, String(after), limit]
}

/** Returns the parameter values for `insert`. */
export function insertValues({ name, categoryId, status }: NewPet): SqliteValue[] {
  return [name, String(categoryId), status ?? null]
}

/** Returns the animal that `insert` has added. */
export function addedPet({ name, categoryId, status }: NewPet, row: { readonly id: string }): Pet {
  const id = BigInt(row.id)
  return status === undefined ? { id, name, categoryId } : { id, name, categoryId, status }
}

/** Converts the row of `page` or `pageOfStatus` to animals. */
export function toPets({ json }: Json): Pet[] {
  return (JSON.parse(json) as Row[]).map(toPet)
}

/** Converts the row of `get` to an animal, if there is a row. */
export function toOnePet(row: Json | undefined): Pet | undefined {
  return row && toPet(JSON.parse(row.json) as Row)
}

function toPet([id, name, categoryId, status]: Row): Pet {
  return status === null
    ? { id: BigInt(id), name, categoryId: BigInt(categoryId) }
    : { id: BigInt(id), name, categoryId: BigInt(categoryId), status }
}
