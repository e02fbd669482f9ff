import type { Pet, PetStatus, PetStorage } from '../../src/index.ts'
import type { Query } from './client.ts'
import { literal, type Names } from './names.ts'
import { guarded, unguarded } from './text.ts'

/** A number of our own, so that the lock is told from those of the host. */
const LOCK = 1_347_637_588

/** int64 comes as text: a number of JavaScript would lose its last digits. */
interface PetRow {
  readonly id: string
  readonly name: string
  readonly category_id: string
  readonly status: PetStatus | null
}

const COLUMNS = `p.id::text AS id, ${guarded('p.name')} AS name, p.category_id::text AS category_id, p.status`
const BEFORE_ALL = '-9223372036854775808'

/** Animals in a table. Each filter has a statement of its own, so that no plan, however generic, has to sort. */
export function postgresStorage(query: Query, { pets, petIds }: Names): PetStorage {
  const page = `SELECT ${COLUMNS} FROM ${pets} AS p WHERE p.id > $1::bigint`
  const listAll = `${page} ORDER BY p.id LIMIT $2::bigint`
  const listStatus = `${page} AND p.status = $3 ORDER BY p.id LIMIT $2::bigint`
  const getOne = `SELECT ${COLUMNS} FROM ${pets} AS p WHERE p.id = $1::bigint`
  const createOne = createStatement(pets, petIds)

  return {
    async list({ limit, after, status }) {
      const from = after === undefined ? BEFORE_ALL : String(after)
      const values = status === undefined ? [from, limit] : [from, limit, status]
      return (await query<PetRow>(status === undefined ? listAll : listStatus, values)).map(toPet)
    },
    async create({ name, categoryId, status }) {
      const [row] = await query<PetRow>(createOne, [name, String(categoryId), status ?? null])
      return toPet(row as PetRow)
    },
    async get(id) {
      const [row] = await query<PetRow>(getOne, [String(id)])
      return row && toPet(row)
    },
  }
}

/**
 * A sequence alone would let a greater id be seen before a smaller one whose transaction still runs, and a reader who pages
 * by id would pass over it for ever. So whoever adds an animal first waits for its turn, which ends when its transaction
 * has become visible, and only then draws the id: ids are seen in the order of their numbers.
 */
function createStatement(pets: string, petIds: string): string {
  const table = `${literal(pets)}::regclass::oid::int`
  return `WITH turn AS MATERIALIZED (SELECT pg_advisory_xact_lock(${LOCK}, ${table}))
INSERT INTO ${pets} AS p (id, name, category_id, status)
SELECT nextval(${literal(petIds)}), $1, $2::bigint, $3 FROM turn
RETURNING ${COLUMNS}`
}

function toPet({ id, name, category_id, status }: PetRow): Pet {
  const pet = { id: BigInt(id), name: unguarded(name), categoryId: BigInt(category_id) }
  return status === null ? pet : { ...pet, status }
}
