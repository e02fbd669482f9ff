import type { NewPet, Pet, PetQuery, PetStorage } from '../../../src/index.ts'
import {
  addedPet,
  insertValues,
  type Json,
  pageValues,
  petStatements,
  toOnePet,
  toPets,
} from '../sqlite-dialect/storage.ts'
import { prepareAll, type SqliteDatabase } from './connection.ts'
import { guarded } from './errors.ts'
import type { Writer } from './writer.ts'

/** A storage that can also add many animals at once. */
export interface SqliteStorage extends PetStorage {
  /** Adds animals in the given order in one transaction: all or none. */
  createMany(pets: readonly NewPet[]): Promise<readonly Pet[]>
}

/** Creates the storage in SQLite. SQLite has one writer at a time, so animals become visible in the order of their ids. */
export function sqliteStorage(database: SqliteDatabase, { write }: Writer): SqliteStorage {
  const { page, pageOfStatus, get, insert } = prepareAll(database, petStatements)

  function add(pet: NewPet): Pet {
    // `all` runs the statement to its end. If only the first row is read, drivers do not report a failed commit.
    const [row] = insert.all(...insertValues(pet)) as [{ readonly id: string }]
    return addedPet(pet, row)
  }

  function list(query: PetQuery): Pet[] {
    const statement = query.status === undefined ? page : pageOfStatus
    const [row] = statement.all(...pageValues(query)) as [Json]
    return toPets(row)
  }

  return {
    list: (query) => guarded(() => list(query)),
    get: (id) => toOnePet(guarded(() => get.all(String(id)) as Json[])[0]),
    create: (pet) => write(() => add(pet)),
    createMany: (pets) => write(() => pets.map(add)),
  }
}
