import type { NewPet, Pet, PetStatus, PetStorage } from '../../../src/index.ts'
import type { Query } from './client.ts'
import { literal, type Names } from './names.ts'
import { guarded, unguarded } from './text.ts'

/** The first key of the advisory lock, so that it differs from locks of the host. */
const LOCK = 1_347_637_588

/**
 * An int64 is text, because a number would lose digits. Column names are single lower-case words, which no driver renames.
 */
interface PetRow {
  readonly id: string
  readonly name: string
  readonly category: string
  readonly status: PetStatus | null
}

const COLUMNS = `p.id::text AS id, ${guarded('p.name')} AS name, p.category_id::text AS category, p.status`
const SMALLEST = -(2n ** 63n)
const GREATEST = 2n ** 63n - 1n

/** A storage that can also add many animals at once. */
export interface PostgresStorage extends PetStorage {
  /** Adds animals in their order by one statement: all or none. */
  createMany(pets: readonly NewPet[]): Promise<readonly Pet[]>
}

/**
 * Keeps animals in a table. Each filter has a statement of its own, so that no plan must sort.
 *
 * A page of a status compares the pair of status and id. With `status = $3`, the engine might read the ids of the whole table in
 * order, which is slow if few of them have the status.
 */
export function postgresStorage(query: Query, { pets, petIds }: Names): PostgresStorage {
  const listAll = `SELECT ${COLUMNS} FROM ${pets} AS p WHERE p.id >= $1::bigint ORDER BY p.id LIMIT $2::bigint`
  const listStatus = `SELECT ${COLUMNS} FROM ${pets} AS p
WHERE (p.status, p.id) >= ($3::text, $1::bigint) AND p.status <= $3::text ORDER BY p.status, p.id LIMIT $2::bigint`
  const getOne = `SELECT ${COLUMNS} FROM ${pets} AS p WHERE p.id = $1::bigint`
  const createOne = createStatement(pets, petIds, '$1, $2::bigint, $3 FROM turn')
  const createAll = createStatement(pets, petIds, EACH_GIVEN)

  return {
    async list({ limit, after, status }) {
      if (after === GREATEST) return []
      const first = String(after === undefined ? SMALLEST : after + 1n)
      const values = status === undefined ? [first, limit] : [first, limit, status]
      return (await query<PetRow>(status === undefined ? listAll : listStatus, values)).map(toPet)
    },
    async create({ name, categoryId, status }) {
      const [row] = await query<PetRow>(createOne, [name, String(categoryId), status ?? null])
      return toPet(row as PetRow)
    },
    async createMany(pets) {
      const given = pets.map(({ name, categoryId, status }) => [name, String(categoryId), status ?? null])
      const rows = await query<PetRow>(createAll, [JSON.stringify(given)])
      return rows.map(toPet).sort((a, b) => (a.id < b.id ? -1 : 1))
    },
    async get(id) {
      const [row] = await query<PetRow>(getOne, [String(id)])
      return row && toPet(row)
    },
  }
}

/** Selects the rows of a JSON text in their order. An id is assigned after the sort. */
const EACH_GIVEN = `pet->>0, (pet->>1)::bigint, pet->>2
FROM turn, json_array_elements($1::json) WITH ORDINALITY AS given (pet, place) ORDER BY place`

/**
 * With a sequence alone, a greater id could become visible before a smaller one whose transaction still runs, and a client that
 * follows the ids would skip it forever. So a statement waits for a lock, which is held until its transaction is visible, before it
 * assigns an id.
 */
function createStatement(pets: string, petIds: string, values: string): string {
  const table = `${literal(pets)}::regclass::oid::int`
  return `WITH turn AS MATERIALIZED (SELECT pg_advisory_xact_lock(${LOCK}, ${table}))
INSERT INTO ${pets} AS p (id, name, category_id, status)
SELECT nextval(${literal(petIds)}), ${values}
RETURNING ${COLUMNS}`
}

function toPet(row: PetRow): Pet {
  const id = toBigInt(row.id)
  const name = unguarded(row.name)
  const categoryId = toBigInt(row.category)
  const { status } = row
  return status === null ? { id, name, categoryId } : { id, name, categoryId, status }
}

/** A short integer is converted faster through a number. */
function toBigInt(text: string): bigint {
  return BigInt(text.length < 16 ? Number(text) : text)
}
