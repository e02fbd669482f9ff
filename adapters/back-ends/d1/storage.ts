import type { PetStorage } from '../../../src/index.ts'
import {
  addedPet,
  insertValues,
  type Json,
  pageValues,
  petStatements,
  toOnePet,
  toPets,
} from '../sqlite-dialect/storage.ts'
import type { Engine } from './connection.ts'

/** Creates the storage in D1. D1 runs one statement at a time, so animals become visible in the order of their ids. */
export function d1Storage({ run }: Engine): PetStorage {
  return {
    async list(query) {
      const statement = query.status === undefined ? petStatements.page : petStatements.pageOfStatus
      const [row] = (await run(statement, ...pageValues(query))) as [Json]
      return toPets(row)
    },
    get: async (id) => toOnePet((await run<Json>(petStatements.get, String(id)))[0]),
    async create(pet) {
      const [row] = (await run(petStatements.insert, ...insertValues(pet))) as [{ readonly id: string }]
      return addedPet(pet, row)
    },
  }
}
