import type { NewPet, Pet, PetStorage } from '../../src/index.ts'
import { prepare, type SqliteDatabase } from './database.ts'
import { guarded } from './errors.ts'
import type { Writer } from './writer.ts'

/** Where animals are kept, with a way to add many. */
export interface SqliteStorage extends PetStorage {
  /** Keeps many animals in one transaction, in their order: all of them or none. */
  createMany(pets: readonly NewPet[]): Promise<readonly Pet[]>
}

interface Row {
  readonly id: string
  readonly name: string
  readonly category_id: string
  readonly status: Pet['status'] | null
}

const COLUMNS = 'CAST(id AS TEXT) AS id, name, CAST(category_id AS TEXT) AS category_id, status'
const PAGE = 'id > CAST(? AS INTEGER) ORDER BY petstore_pets.id LIMIT ?'

/** The statements of the storage, for the tests of their plans as well. */
export const storageStatements = {
  page: `SELECT ${COLUMNS} FROM petstore_pets WHERE petstore_pets.${PAGE}`,
  pageOfStatus: `SELECT ${COLUMNS} FROM petstore_pets WHERE status = ? AND petstore_pets.${PAGE}`,
  get: `SELECT ${COLUMNS} FROM petstore_pets WHERE petstore_pets.id = CAST(? AS INTEGER)`,
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
    const [row] = insert.all(name, String(categoryId), status ?? null) as [Pick<Row, 'id'>]
    const id = BigInt(row.id)
    return status === undefined ? { id, name, categoryId } : { id, name, categoryId, status }
  }

  return {
    list: ({ limit, after = 0n, status }) =>
      guarded(() => {
        const rows =
          status === undefined ? page.all(String(after), limit) : pageOfStatus.all(status, String(after), limit)
        return (rows as Row[]).map(toPet)
      }),
    get: (id) =>
      guarded(() => {
        const [row] = one.all(String(id)) as Row[]
        return row && toPet(row)
      }),
    create: (pet) => write(() => add(pet)),
    createMany: (pets) => write(() => pets.map(add)),
  }
}

function toPet({ id, name, category_id, status }: Row): Pet {
  const pet = { id: BigInt(id), name, categoryId: BigInt(category_id) }
  return status === null ? pet : { ...pet, status }
}
