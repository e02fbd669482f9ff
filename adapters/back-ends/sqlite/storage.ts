import type { NewPet, Pet, PetQuery, PetStorage } from '../../../src/index.ts'
import { prepare, type SqliteDatabase } from './database.ts'
import { guarded } from './errors.ts'
import type { Writer } from './writer.ts'

/** Where animals are kept, with a way to add many. */
export interface SqliteStorage extends PetStorage {
  /** Keeps many animals in one transaction, in their order: all of them or none. */
  createMany(pets: readonly NewPet[]): Promise<readonly Pet[]>
}

/** An animal as it comes from the file. */
type Row = readonly [id: string, name: string, categoryId: string, status: Pet['status'] | null]

/** The column of what comes as one JSON text. */
interface Json {
  readonly json: string
}

/** 64 bits go as text. */
const ROW = 'json_array(CAST(id AS TEXT), name, CAST(category_id AS TEXT), status)'
const FOLLOWING = 'id > CAST(? AS INTEGER) ORDER BY id LIMIT ?'

/**
 * The statements of the storage, for the tests of their plans as well.
 *
 * A page comes as one text: to cross from SQLite into JavaScript costs more, for each row and column, than to read JSON.
 * The index is named, because statistics of the host's (`ANALYZE`) may make all ids seem as good a way to a rare status.
 */
export const storageStatements = {
  page: `SELECT json_group_array(${ROW}) AS json FROM (SELECT * FROM petstore_pets WHERE ${FOLLOWING})`,
  pageOfStatus: `SELECT json_group_array(${ROW}) AS json
    FROM (SELECT * FROM petstore_pets INDEXED BY petstore_pets_by_status WHERE status = ? AND ${FOLLOWING})`,
  get: `SELECT ${ROW} AS json FROM petstore_pets WHERE id = CAST(? AS INTEGER)`,
  insert: `INSERT INTO petstore_pets (name, category_id, status) VALUES (?, CAST(? AS INTEGER), ?)
    RETURNING CAST(id AS TEXT) AS id`,
} as const

/** Animals in a table. SQLite lets one write at a time, so ids are taken in the order in which they are shown. */
export function sqliteStorage(database: SqliteDatabase, { write }: Writer): SqliteStorage {
  const page = prepare(database, storageStatements.page)
  const pageOfStatus = prepare(database, storageStatements.pageOfStatus)
  const one = prepare(database, storageStatements.get)
  const insert = prepare(database, storageStatements.insert)

  function add({ name, categoryId, status }: NewPet): Pet {
    // Run to its end: a statement that is left after its first row tells no driver that its commit has failed.
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
