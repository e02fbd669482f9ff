import type { CreatedPet, Idempotency, NewPet, Pet, PetStatus, PetStorage } from '../../../src/index.ts'
import { KEY_PERIOD, MAX_KEYS } from '../../../src/pets/used-keys.ts'
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
/** After this many new idempotency keys of this process, keys that have ended are removed. */
const PRUNE_KEYS_EVERY = 1_000
/** The largest number of keys removed at once: more than the keys between two removals. */
const KEYS_PRUNED_AT_ONCE = 10_000

/** An animal to add. */
interface Given {
  readonly pet: NewPet
  readonly idempotency: Idempotency | undefined
}

/** The id of an animal, the run of the server, and, if its key had been used, whether the fingerprints are the same. */
interface AddedRow {
  readonly id: string
  readonly run: string
  readonly same?: boolean | null
}

/** An animal that is added, and a promise that resolves when the animal is on disk. */
interface Added {
  readonly pet: CreatedPet
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
  const [pets, durable, usedKeys] = [`${schema}.pets`, `${schema}.durable`, `${schema}.used_keys`]
  const columns = `p.id::text AS id, ${textColumn('p.name')} AS name, p.category_id::text AS category, p.status`
  const isDurable = `p.id <= (SELECT max(d.up_to) FROM ${durable} AS d)`
  const listAll = page('p.id >= $1::bigint', 'p.id')
  const listStatus = page('(p.status, p.id) >= ($3::text, $1::bigint) AND p.status <= $3::text', 'p.status, p.id')
  const getOne = `SELECT ${columns} FROM ${pets} AS p WHERE p.id = $1::bigint AND ${isDurable}`
  const addThem = `SELECT a.id::text AS id, a.run::text AS run FROM ${schema}.add_pets($1::text::json, $2::int) AS a ORDER BY a.id`
  const addThemOnce = `SELECT a.id::text AS id, a.run::text AS run, a.same
FROM ${schema}.add_pets_once($1::text::json, $3::text::json, $2::int) AS a ORDER BY a.place`
  // Rows that another process removes are skipped.
  const prune = `DELETE FROM ${durable} WHERE ${WITHOUT_WAIT} AND ctid = ANY (ARRAY(
  SELECT ctid FROM ${durable}
  WHERE up_to < (SELECT up_to FROM ${durable} ORDER BY up_to DESC OFFSET ${KEPT_IDS - 1} LIMIT 1)
  ORDER BY up_to LIMIT ${PRUNED_AT_ONCE} FOR UPDATE SKIP LOCKED))`
  const pruneEndedKeys = `DELETE FROM ${usedKeys} WHERE ${WITHOUT_WAIT} AND key_sha256 = ANY (ARRAY(
  SELECT key_sha256 FROM ${usedKeys} WHERE used_at <= $1::float8 - ${KEY_PERIOD}
  ORDER BY used_at LIMIT ${KEYS_PRUNED_AT_ONCE} FOR UPDATE SKIP LOCKED))`
  // The newest key most likely belongs to a scope with many keys.
  const pruneFullScope = `DELETE FROM ${usedKeys} WHERE ${WITHOUT_WAIT} AND key_sha256 = ANY (ARRAY(
  WITH newest AS (SELECT scope_sha256 FROM ${usedKeys} ORDER BY used_at DESC LIMIT 1)
  SELECT key_sha256 FROM ${usedKeys} WHERE scope_sha256 = (SELECT scope_sha256 FROM newest) AND pet_id <= (
    SELECT pet_id FROM ${usedKeys} WHERE scope_sha256 = (SELECT scope_sha256 FROM newest)
    ORDER BY pet_id DESC OFFSET ${MAX_KEYS} LIMIT 1)
  ORDER BY pet_id LIMIT ${KEYS_PRUNED_AT_ONCE} FOR UPDATE SKIP LOCKED))`

  function page(condition: string, order: string): string {
    const first = `SELECT * FROM ${pets} AS p WHERE ${condition} ORDER BY ${order} LIMIT $2::bigint`
    return `SELECT ${columns} FROM (${first}) AS p WHERE ${isDurable} ORDER BY ${order}`
  }

  const add = inBatches({
    ...statementRules(lockTimeout),
    send: addMany,
    maxSize: LARGEST_BATCH,
    sizeOf: ({ pet, idempotency }: Given) => pet.name.length + (idempotency?.fingerprint.length ?? 0) + ROW_SIZE,
  })
  const saves = postgresSaves(connection, schema, lockTimeout)
  const pruneDurable = inBackground(() => query(prune), onError)
  const pruneKeys = inBackground(async (now: number) => {
    await query(pruneEndedKeys, [now])
    await query(pruneFullScope)
  }, onError)
  let statements = 0
  let keys = 0

  async function addMany(given: readonly Given[]): Promise<readonly Added[]> {
    await saves.retryFailed()
    if (statements++ % PRUNE_EVERY === 0) pruneDurable()
    const keyed = given.flatMap(({ idempotency }) => idempotency ?? [])
    const values = [JSON.stringify(given.map(({ pet }) => toEntry(pet))), lockTimeout]
    const rows =
      keyed.length === 0
        ? await query<AddedRow>(addThem, values)
        : await query<AddedRow>(addThemOnce, [...values, JSON.stringify(given.map(toKeyEntry))])
    countKeys(keyed)
    const ids = rows.map(({ id }) => toBigInt(id))
    const { run } = rows[0] as AddedRow
    let lastId = ids[0] as bigint
    for (const id of ids) if (id > lastId) lastId = id
    const saved = saves.save({ run, lastId })
    return given.map(({ pet }, index) => {
      const created = createdPet(ids[index] as bigint, pet)
      const same = rows[index]?.same ?? null
      return { pet: same === null ? created : { ...created, earlier: same ? 'same' : 'different' }, saved }
    })
  }

  function countKeys(keyed: readonly Idempotency[]): void {
    keys += keyed.length
    if (keys < PRUNE_KEYS_EVERY) return
    keys = 0
    pruneKeys(keyed.at(-1)?.now as number)
  }

  function toPet(row: PetRow): Pet {
    const [id, name, categoryId] = [toBigInt(row.id), readText(row.name), toBigInt(row.category)]
    return createdPet(id, { name, categoryId, status: row.status ?? undefined })
  }

  const create: PetStorage['create'] = async (pet, context) => {
    const added = await add({ pet, idempotency: context?.idempotency }, context)
    await added.saved
    return added.pet
  }

  return {
    async list({ limit, after, status }) {
      if (after === GREATEST) return []
      const first = String(after === undefined ? SMALLEST : after + 1n)
      const values = status === undefined ? [first, limit] : [first, limit, status]
      return (await query<PetRow>(status === undefined ? listAll : listStatus, values)).map(toPet)
    },
    create,
    idempotentCreate: create,
    async get(id) {
      const [row] = await query<PetRow>(getOne, [String(id)])
      return row && toPet(row)
    },
  }
}

function toEntry({ name, categoryId, status }: NewPet) {
  return [name, String(categoryId), status ?? null]
}

function toKeyEntry({ idempotency }: Given) {
  if (idempotency === undefined) return null
  const { scope, key, fingerprint, now } = idempotency
  return [...[scope, key, fingerprint].map((text) => JSON.stringify(text)), now]
}

function createdPet(id: bigint, { name, categoryId, status }: NewPet): Pet {
  return status === undefined ? { id, name, categoryId } : { id, name, categoryId, status }
}

/** Converts a short integer through a number, which is faster. */
function toBigInt(text: string): bigint {
  return BigInt(text.length < 16 ? Number(text) : text)
}
