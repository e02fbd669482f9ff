import type { NewPet, Pet, PetStatus, PetStorage } from '../../../src/index.ts'
import { withTimeout } from '../../../src/support/with-timeout.ts'
import { unavailable } from '../shared/unavailable.ts'
import { pruneDurable } from './add-pets.ts'
import { inBackground } from './background.ts'
import { inBatches } from './batches.ts'
import type { Query } from './client.ts'
import type { Disk, Unsaved } from './disk.ts'
import type { Names } from './names.ts'
import { statementRules } from './statement-rules.ts'
import { guarded, unguarded } from './text.ts'

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

const COLUMNS = `p.id::text AS id, ${guarded('p.name')} AS name, p.category_id::text AS category, p.status`
const SMALLEST = -(2n ** 63n)
const GREATEST = 2n ** 63n - 1n

/** The largest batch, in characters of names. For its other columns, each animal counts as `ROW_SIZE` more characters. */
const LARGEST_BATCH = 500_000
const ROW_SIZE = 100
/** After this many statements that add animals, ids that are no longer needed are removed from the table `durable`. */
const PRUNE_EVERY = 100

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

/** A storage that can also add many animals at once. */
export interface PostgresStorage extends PetStorage {
  /** Adds animals in the given order with one statement: all or none. */
  createMany(pets: readonly NewPet[]): Promise<readonly Pet[]>
}

/**
 * Creates the storage in PostgreSQL. Animals that are added at the same time share statements: one adds them, and another waits
 * until they are on disk. Only then can clients read them, as `durableIds` explains. Lists with and without a status are separate
 * statements, so that PostgreSQL never has to sort.
 *
 * A list with a status compares the pair of status and id. With `status = $3`, PostgreSQL might read the ids of the whole table
 * in order, which is slow if few animals have the status. Animals that are not durable have the greatest ids, so they are removed
 * from the page. As a condition for the page, `isDurable` could lead to a plan that sorts all animals.
 */
export function postgresStorage(query: Query, names: Names, disk: Disk, lockTimeout: number): PostgresStorage {
  const { pets, addPets, durable, skipWait } = names
  const isDurable = `p.id <= (SELECT max(d.up_to) FROM ${durable} AS d)`
  const listAll = page('p.id >= $1::bigint', 'p.id')
  const listStatus = page('(p.status, p.id) >= ($3::text, $1::bigint) AND p.status <= $3::text', 'p.status, p.id')
  const getOne = `SELECT ${COLUMNS} FROM ${pets} AS p WHERE p.id = $1::bigint AND ${isDurable}`
  const addThem = `SELECT a.id::text AS id, (SELECT ${skipWait}($2::int))::text AS run
FROM ${addPets}($1::text::json, $2::int) AS a (id) ORDER BY a.id`

  function page(condition: string, order: string): string {
    const first = `SELECT * FROM ${pets} AS p WHERE ${condition} ORDER BY ${order} LIMIT $2::bigint`
    return `SELECT ${COLUMNS} FROM (${first}) AS p WHERE ${isDurable} ORDER BY ${order}`
  }

  const add = inBatches({
    ...statementRules(lockTimeout),
    send: addMany,
    maxSize: LARGEST_BATCH,
    sizeOf: ({ name }: NewPet) => name.length + ROW_SIZE,
  })
  const prune = inBackground(() => query(pruneDurable(names)))
  let statements = 0
  /** The animals of the last save that failed. */
  let lastFailed: Unsaved | undefined

  /** After a failed save, waits for a successful one. Otherwise, each create would add an animal and respond 503. */
  async function retryFailed(): Promise<void> {
    const failed = lastFailed
    if (failed === undefined) return
    await withTimeout(disk.save(failed), lockTimeout, () =>
      unavailable(new Error('earlier animals are not on disk yet')),
    )
    if (lastFailed === failed) lastFailed = undefined
  }

  async function addMany(given: readonly NewPet[]): Promise<readonly Added[]> {
    await retryFailed()
    if (statements++ % PRUNE_EVERY === 0) prune()
    const texts = given.map(({ name, categoryId, status }) => [name, String(categoryId), status ?? null])
    const rows = await query<AddedRow>(addThem, [JSON.stringify(texts), lockTimeout])
    const ids = rows.map(({ id }) => toBigInt(id))
    const unsaved = { run: (rows[0] as AddedRow).run, lastId: ids.at(-1) as bigint }
    const saved = disk.wait(unsaved)
    saved.catch(() => {
      lastFailed = unsaved
    })
    return given.map((pet, index) => ({ pet: createdPet(ids[index] as bigint, pet), saved }))
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
    async createMany(given) {
      if (given.length === 0) return []
      const added = await addMany(given)
      await added[0]?.saved
      return added.map(({ pet }) => pet)
    },
    async get(id) {
      const [row] = await query<PetRow>(getOne, [String(id)])
      return row && toPet(row)
    },
  }
}

function toPet(row: PetRow): Pet {
  const id = toBigInt(row.id)
  const name = unguarded(row.name)
  const categoryId = toBigInt(row.category)
  return createdPet(id, { name, categoryId, status: row.status ?? undefined })
}

function createdPet(id: bigint, { name, categoryId, status }: NewPet): Pet {
  return status === undefined ? { id, name, categoryId } : { id, name, categoryId, status }
}

/** Converts a short integer through a number, which is faster. */
function toBigInt(text: string): bigint {
  return BigInt(text.length < 16 ? Number(text) : text)
}
