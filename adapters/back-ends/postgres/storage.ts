import type {
  CallContext,
  Clock,
  CreatedPet,
  Idempotency,
  NewPet,
  Pet,
  PetStatus,
  PetStorage,
} from '../../../src/index.ts'
import { inBackground } from './background.ts'
import { inBatches, statementRules } from './batches.ts'
import type { Connection } from './connection.ts'
import { postgresSaves } from './saves.ts'
import { petStatements } from './statements.ts'
import { sqlTime } from './time.ts'

/**
 * 64-bit integers are text, because a JavaScript number would lose digits. Each column name is one lower-case word, because some
 * drivers rename columns such as `category_id`.
 */
interface PetRow {
  readonly id: string
  readonly name: string
  readonly category: string
  readonly status: PetStatus | null
}

const SMALLEST = -(2n ** 63n)
const GREATEST = 2n ** 63n - 1n

/** The largest batch, in characters of JSON. Each animal counts as `ROW_SIZE` more characters. */
const LARGEST_BATCH = 500_000
const ROW_SIZE = 100
/** Every 100 statements that add animals, old ids are deleted from the table `durable`. */
const PRUNE_EVERY = 100
/** Every 1,000 uses of an idempotency key, this process deletes expired keys, for the first time at the first use. */
const PRUNE_KEYS_EVERY = 1_000

interface Given {
  readonly pet: NewPet
  readonly row: string
  readonly key: string | null
}

interface AddedRow {
  readonly id: string
  readonly run: string
  /** If the idempotency key had already been used: whether the fingerprints are equal. */
  readonly same?: boolean | null
}

interface Added {
  readonly pet: CreatedPet
  /** Resolves when the animal is on disk. */
  readonly saved: Promise<void>
}

/**
 * Animals that are added at the same time share two statements: one adds them, and another waits until they are on disk. Only then
 * can clients read them, as docs/durability.md explains.
 */
export function postgresStorage(
  connection: Connection,
  schema: string,
  clock: Clock | undefined,
  lockTimeout: number,
  onError: (error: unknown) => void,
): PetStorage {
  const { query } = connection
  const time = sqlTime(clock)
  const statements = petStatements(schema, time)

  const add = inBatches({
    ...statementRules(lockTimeout),
    send: addMany,
    maxSize: LARGEST_BATCH,
    sizeOf: ({ row, key }: Given) => row.length + (key?.length ?? 0) + ROW_SIZE,
  })
  const saves = postgresSaves(connection, statements.save, lockTimeout)
  const pruneDurable = inBackground(() => query(statements.prune), onError)
  const pruneKeys = inBackground(() => query(statements.pruneEndedKeys, time.values()), onError)
  let batches = 0
  let keysSincePrune = 0

  async function addMany(given: readonly Given[]): Promise<readonly Added[]> {
    await saves.retryFailed()
    if (batches++ % PRUNE_EVERY === 0) pruneDurable()
    const keys = given.filter(({ key }) => key !== null).length
    const values = [`[${given.map(({ row }) => row)}]`, lockTimeout]
    const rows =
      keys === 0
        ? await query<AddedRow>(statements.addThem, values)
        : await query<AddedRow>(statements.addThemOnce, [
            ...values,
            `[${given.map(({ key }) => String(key))}]`,
            clock?.now() ?? null,
          ])
    if (keys > 0) pruneKeysAfter(keys)
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

  function pruneKeysAfter(keys: number): void {
    if (keysSincePrune === 0) pruneKeys()
    keysSincePrune += keys
    if (keysSincePrune >= PRUNE_KEYS_EVERY) keysSincePrune = 0
  }

  function toPet(row: PetRow): Pet {
    const [id, name, categoryId] = [toBigInt(row.id), row.name, toBigInt(row.category)]
    return createdPet(id, { name, categoryId, status: row.status ?? undefined })
  }

  async function create(
    pet: NewPet,
    idempotency: Idempotency | undefined,
    context: CallContext | undefined,
  ): Promise<CreatedPet> {
    // The JSON is written before the call joins a batch, so that a value that JSON cannot represent rejects only this call.
    const added = await add({ pet, row: rowOf(pet), key: idempotency ? keyRowOf(idempotency) : null }, context)
    await added.saved
    return added.pet
  }

  return {
    async list({ limit, after, status }) {
      if (after === GREATEST) return []
      const first = String(after === undefined ? SMALLEST : after + 1n)
      const values = status === undefined ? [first, limit] : [first, limit, status]
      return (await query<PetRow>(status === undefined ? statements.listAll : statements.listStatus, values)).map(toPet)
    },
    create: (pet, context) => create(pet, undefined, context),
    createOnce: create,
    async get(id) {
      const [row] = await query<PetRow>(statements.getOne, [String(id)])
      return row && toPet(row)
    },
  }
}

function rowOf({ name, categoryId, status }: NewPet): string {
  return JSON.stringify([name, String(categoryId), status ?? null])
}

function keyRowOf({ scope, key, fingerprint }: Idempotency): string {
  return JSON.stringify([scope, key, fingerprint].map((text) => JSON.stringify(text)))
}

function createdPet(id: bigint, { name, categoryId, status }: NewPet): Pet {
  const complete = { id, name, categoryId, status } satisfies Record<keyof Pet, unknown>
  return status === undefined ? { id, name, categoryId } : complete
}

/** A number is faster to convert, and exact up to 15 digits. */
function toBigInt(text: string): bigint {
  return BigInt(text.length < 16 ? Number(text) : text)
}
