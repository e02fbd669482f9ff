import type { NewPet, Pet, PetStatus, PetStorage } from '../../../src/index.ts'
import { inBackground, WITHOUT_WAIT } from './background.ts'
import { inBatches, statementRules } from './batches.ts'
import type { Connection } from './connection.ts'
import { postgresSaves } from './saves.ts'

/**
 * An animal's row. An int64 is text, as a number would lose digits. Each column name is one lower-case word, because some drivers
 * rename columns such as `category_id`.
 */
interface PetRow {
  readonly id: string
  readonly name: string
  readonly category: string
  readonly status: PetStatus | null
}

const SMALLEST = -(2n ** 63n)
const GREATEST = 2n ** 63n - 1n

/** The largest batch, in characters of names. For its other columns, each animal counts as `ROW_SIZE` more characters. */
const LARGEST_BATCH = 500_000
const ROW_SIZE = 100
/** After this many statements that add animals, ids that are no longer needed are removed from the table `durable`. */
const PRUNE_EVERY = 100
/** How many of the greatest ids the table `durable` keeps. With fewer, PostgreSQL may read the whole table to find the greatest. */
const KEPT_IDS = 100
const PRUNED_AT_ONCE = 1_000

/** The id of an added animal, and the run of the server. */
interface AddedRow {
  readonly id: string
  readonly run: string
}

/** An animal that is added, and a promise that resolves when the animal is on disk. */
interface Added {
  readonly pet: Pet
  readonly saved: Promise<void>
}

/**
 * Creates the storage in PostgreSQL. Animals that are added at the same time share statements: one adds them, and another waits
 * until they are on disk. Only then can clients read them, as docs/architecture.md explains. Lists with and without a status are separate
 * statements, so that PostgreSQL never has to sort.
 *
 * A list with a status compares the pair of status and id. With `status = $3`, PostgreSQL might read the ids of the whole table
 * in order, which is slow if few animals have the status. Animals that are not durable have the greatest ids, so they are removed
 * from the page. As a condition for the page, `isDurable` could lead to a plan that sorts all animals.
 */
export function postgresStorage(
  connection: Connection,
  schema: string,
  lockTimeout: number,
  onError: (error: unknown) => void,
): PetStorage {
  const { query, textColumn, readText } = connection
  const [pets, durable] = [`${schema}.pets`, `${schema}.durable`]
  const columns = `p.id::text AS id, ${textColumn('p.name')} AS name, p.category_id::text AS category, p.status`
  const isDurable = `p.id <= (SELECT max(d.up_to) FROM ${durable} AS d)`
  const listAll = page('p.id >= $1::bigint', 'p.id')
  const listStatus = page('(p.status, p.id) >= ($3::text, $1::bigint) AND p.status <= $3::text', 'p.status, p.id')
  const getOne = `SELECT ${columns} FROM ${pets} AS p WHERE p.id = $1::bigint AND ${isDurable}`
  const addThem = `SELECT a.id::text AS id, a.run::text AS run FROM ${schema}.add_pets($1::text::json, $2::int) AS a ORDER BY a.id`
  // Rows that another process removes are skipped.
  const prune = `DELETE FROM ${durable} WHERE ${WITHOUT_WAIT} AND ctid = ANY (ARRAY(
  SELECT ctid FROM ${durable}
  WHERE up_to < (SELECT up_to FROM ${durable} ORDER BY up_to DESC OFFSET ${KEPT_IDS - 1} LIMIT 1)
  ORDER BY up_to LIMIT ${PRUNED_AT_ONCE} FOR UPDATE SKIP LOCKED))`

  function page(condition: string, order: string): string {
    const first = `SELECT * FROM ${pets} AS p WHERE ${condition} ORDER BY ${order} LIMIT $2::bigint`
    return `SELECT ${columns} FROM (${first}) AS p WHERE ${isDurable} ORDER BY ${order}`
  }

  const add = inBatches({
    ...statementRules(lockTimeout),
    send: addMany,
    maxSize: LARGEST_BATCH,
    sizeOf: ({ name }: NewPet) => name.length + ROW_SIZE,
  })
  const saves = postgresSaves(connection, schema, lockTimeout)
  const pruneDurable = inBackground(() => query(prune), onError)
  let statements = 0

  async function addMany(given: readonly NewPet[]): Promise<readonly Added[]> {
    await saves.retryFailed()
    if (statements++ % PRUNE_EVERY === 0) pruneDurable()
    const texts = given.map(({ name, categoryId, status }) => [name, String(categoryId), status ?? null])
    const rows = await query<AddedRow>(addThem, [JSON.stringify(texts), lockTimeout])
    const added = rows.map(({ id, run }) => ({ id: toBigInt(id), run }))
    const last = added.at(-1) as (typeof added)[0]
    const saved = saves.save({ run: last.run, lastId: last.id })
    return given.map((pet, index) => ({ pet: createdPet(added[index]?.id as bigint, pet), saved }))
  }

  function toPet(row: PetRow): Pet {
    const [id, name, categoryId] = [toBigInt(row.id), readText(row.name), toBigInt(row.category)]
    return createdPet(id, { name, categoryId, status: row.status ?? undefined })
  }

  return {
    async list({ limit, after, status }) {
      if (after === GREATEST) return []
      const first = String(after === undefined ? SMALLEST : after + 1n)
      const values = status === undefined ? [first, limit] : [first, limit, status]
      return (await query<PetRow>(status === undefined ? listAll : listStatus, values)).map(toPet)
    },
    async create(given, context) {
      const { pet, saved } = await add(given, context)
      await saved
      return pet
    },
    async get(id) {
      const [row] = await query<PetRow>(getOne, [String(id)])
      return row && toPet(row)
    },
  }
}

function createdPet(id: bigint, { name, categoryId, status }: NewPet): Pet {
  return status === undefined ? { id, name, categoryId } : { id, name, categoryId, status }
}

/** Converts a short integer through a number, which is faster. */
function toBigInt(text: string): bigint {
  return BigInt(text.length < 16 ? Number(text) : text)
}
