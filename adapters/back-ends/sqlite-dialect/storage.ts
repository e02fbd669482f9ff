import type { Pet, PetStatus, PetStorage } from '../../../src/index.ts'
import { andThen } from '../../../src/support/maybe-promise.ts'
import type { Run } from './statements.ts'

/** An animal in the JSON text of a query's result. */
type Row = readonly [id: string, name: string, categoryId: string, status: PetStatus | null]

/** The rows of a query whose result is one JSON text. */
type JsonRows = readonly [{ readonly json: string }?]

/**
 * Creates a storage on the table of animals. The engine has one writer at a time, so animals become visible in the order of their
 * ids.
 */
export function tableStorage(read: Run, write: Run): PetStorage {
  return {
    list({ limit, after = 0n, status }) {
      const rows =
        status === undefined ? read('page', `${after}`, limit) : read('pageOfStatus', status, `${after}`, limit)
      return andThen(rows, (rows) => (parse(rows) as Row[]).map(fromRow))
    },
    get(id) {
      return andThen(read('pet', `${id}`), (rows) => (rows.length === 0 ? undefined : fromRow(parse(rows) as Row)))
    },
    create({ name, categoryId, status }) {
      return andThen(write('addPet', name, `${categoryId}`, status ?? null), (rows) => {
        const [{ id }] = rows as [{ readonly id: string }]
        return toPet(BigInt(id), name, categoryId, status)
      })
    },
  }
}

function parse(rows: readonly unknown[]): unknown {
  return JSON.parse((rows as JsonRows)[0]?.json ?? '[]')
}

function fromRow([id, name, categoryId, status]: Row): Pet {
  return toPet(BigInt(id), name, BigInt(categoryId), status)
}

function toPet(id: bigint, name: string, categoryId: bigint, status: PetStatus | null | undefined): Pet {
  return status ? { id, name, categoryId, status } : { id, name, categoryId }
}
