import type { CallContext, CreatedPet, Idempotency, NewPet, Pet, PetStatus, PetStorage } from '../../../src/index.ts'
import { INT64_MIN } from '../../../src/model.ts'
import { petOf } from '../shared/pet.ts'
import { inBackground } from './background.ts'
import { inBatches, statementRules } from './batches.ts'
import type { PostgresContext } from './connection.ts'
import { greatestOf, postgresSaves } from './saves.ts'
import { petStatements } from './statements.ts'

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

/** The largest size of a batch: the number of characters of its JSON, plus `ROW_SIZE` for each animal. */
const LARGEST_BATCH = 500_000
const ROW_SIZE = 100
/** Each process prunes the table `durable` at its first statement that adds animals, and then every 100 such statements. */
const PRUNE_EVERY = 100
/** At its first use of an idempotency key, and then every 1,000 uses, each process deletes expired keys. */
const PRUNE_KEYS_EVERY = 1_000

interface Given {
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
  readonly row: AddedRow
  readonly saved: Promise<void>
}

/**
 * Animals that are added at the same time share two statements: one adds them, and another waits until they are on disk. Only then
 * can clients read them, as docs/durability.md explains.
 */
export function postgresStorage({ connection, schema, clock, lockTimeout, report }: PostgresContext): PetStorage {
  const { query } = connection
  const statements = petStatements(schema)
  const now = () => clock?.now() ?? null

  const add = inBatches({
    ...statementRules(lockTimeout),
    send: addMany,
    maxSize: LARGEST_BATCH,
    sizeOf: ({ row, key }: Given) => row.length + (key?.length ?? 0) + ROW_SIZE,
  })
  const saves = postgresSaves(connection, statements.save, lockTimeout)
  const pruneDurable = inBackground(PRUNE_EVERY, () => query(statements.prune), report)
  const pruneKeys = inBackground(PRUNE_KEYS_EVERY, () => query(statements.pruneExpiredKeys, [now()]), report)

  async function addMany(given: readonly Given[]): Promise<readonly Added[]> {
    await saves.retryFailed()
    pruneDurable()
    const keys = given.filter(({ key }) => key !== null).length
    const values = [`[${given.map(({ row }) => row)}]`, lockTimeout]
    const rows =
      keys === 0
        ? await query<AddedRow>(statements.addThem, values)
        : await query<AddedRow>(statements.addThemOnce, [...values, `[${given.map(({ key }) => String(key))}]`, now()])
    // Prune only after the statement: pruning may wait for locks without a limit, and could block the only connection of a pool.
    if (keys > 0) pruneKeys(keys)
    const lastId = greatestOf(rows.map(({ id }) => toBigInt(id)))
    const saved = saves.save({ run: (rows[0] as AddedRow).run, lastId })
    return rows.map((row) => ({ row, saved }))
  }

  async function create(
    pet: NewPet,
    idempotency: Idempotency | undefined,
    context: CallContext | undefined,
  ): Promise<CreatedPet> {
    // The JSON is written before the call joins a batch, so that a value that JSON cannot represent rejects only this call.
    const added = await add({ row: rowOf(pet), key: idempotency ? keyRowOf(idempotency) : null }, context)
    await added.saved
    const created = petOf(toBigInt(added.row.id), pet)
    const same = added.row.same ?? null
    return same === null ? created : { ...created, earlier: same ? 'same' : 'different' }
  }

  return {
    async list({ limit, after = INT64_MIN, status }) {
      const values = [String(after), limit]
      const rows =
        status === undefined
          ? await query<PetRow>(statements.listAll, values)
          : await query<PetRow>(statements.listStatus, [...values, status])
      return rows.map(toPet)
    },
    create: (pet, context) => create(pet, undefined, context),
    createOnce: create,
    async get(id) {
      const [row] = await query<PetRow>(statements.getOne, [String(id)])
      return row && toPet(row)
    },
  }
}

function toPet({ id, name, category, status }: PetRow): Pet {
  return petOf(toBigInt(id), { name, categoryId: toBigInt(category), status: status ?? undefined })
}

function rowOf({ name, categoryId, status }: NewPet): string {
  return JSON.stringify([name, String(categoryId), status ?? null])
}

function keyRowOf({ scope, key, fingerprint }: Idempotency): string {
  return JSON.stringify([scope, key, fingerprint].map((text) => JSON.stringify(text)))
}

/** Converts a short text to a number first, which is faster, and exact up to 15 digits. */
function toBigInt(text: string): bigint {
  return BigInt(text.length < 16 ? Number(text) : text)
}
