import type { NewPet, Pet, PetQuery, PetStorage } from '../../../src/index.ts'
import { prepare, type SqliteDatabase } from './database.ts'
import { guarded } from './errors.ts'
import type { Writer } from './writer.ts'

/** A storage that can also add many animals at once. */
export interface SqliteStorage extends PetStorage {
  /** Adds animals in their order in one transaction: all or none. */
  createMany(pets: readonly NewPet[]): Promise<readonly Pet[]>
}

/** An animal in the JSON of a query. */
type Row = readonly [id: string, name: string, categoryId: string, status: Pet['status'] | null]

/** A row with one JSON text. */
interface Json {
  readonly json: string
}

/** Integers of 64 bits are text. */
const ROW = 'json_array(CAST(id AS TEXT), name, CAST(category_id AS TEXT), status)'
const FOLLOWING = 'id > CAST(? AS INTEGER) ORDER BY id LIMIT ?'

/**
 * The statements of the storage, exported for tests of their plans.
 *
 * A page is one JSON text, because passing rows and columns from SQLite to JavaScript costs more than parsing. The index is named,
 * because after `ANALYZE` SQLite may prefer to read all ids.
 */
export const storageStatements = {
  page: `SELECT json_group_array(${ROW}) AS json FROM (SELECT * FROM petstore_pets WHERE ${FOLLOWING})`,
  pageOfStatus: `SELECT json_group_array(${ROW}) AS json
    FROM (SELECT * FROM petstore_pets INDEXED BY petstore_pets_by_status WHERE status = ? AND ${FOLLOWING})`,
  get: `SELECT ${ROW} AS json FROM petstore_pets WHERE id = CAST(? AS INTEGER)`,
  insert: `INSERT INTO petstore_pets (name, category_id, status) VALUES (?, CAST(? AS INTEGER), ?)
    RETURNING CAST(id AS TEXT) AS id`,
} as const

/** Keeps animals in a table. SQLite has one writer at a time, so ids become visible in their order. */
export function sqliteStorage(database: SqliteDatabase, { write }: Writer): SqliteStorage {
  const page = prepare(database, storageStatements.page)
  const pageOfStatus = prepare(database, storageStatements.pageOfStatus)
  const one = prepare(database, storageStatements.get)
  const insert = prepare(database, storageStatements.insert)

  function add({ name, categoryId, status }: NewPet): Pet {
    // `all` runs the statement to its end. After only its first row, drivers do not report a failed commit.
    const [row] = insert.all(name, String(categoryId), status ?? null) as [{ readonly id: string }]
    const id = BigInt(row.id)
    return status === undefined ? { id, name, categoryId } : { id, name, categoryId, status }
  }

  function list({ limit, after = 0n, status }: PetQuery): Pet[] {
    const rows = status === undefined ? page.all(String(after), limit) : pageOfStatus.all(status, String(after), limit)
    const [{ json }] = rows as [Json]
    return (JSON.parse(json) as Row[]).map(toPet)
  }

  function get(id: bigint): Pet | undefined {
    const [row] = one.all(String(id)) as Json[]
    return row && toPet(JSON.parse(row.json) as Row)
  }

  return {
    list: (query) => guarded(() => list(query)),
    get: (id) => guarded(() => get(id)),
    create: (pet) => write(() => add(pet)),
    createMany: (pets) => write(() => pets.map(add)),
  }
}

function toPet([id, name, categoryId, status]: Row): Pet {
  return status === null
    ? { id: BigInt(id), name, categoryId: BigInt(categoryId) }
    : { id: BigInt(id), name, categoryId: BigInt(categoryId), status }
}
