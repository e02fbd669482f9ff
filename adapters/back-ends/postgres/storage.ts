import type {
  CallContext,
  CreatedPet,
  Idempotency,
  Pet,
  PetMembers,
  PetStatus,
  PetStorage,
} from '../../../src/index.ts'
import { INT64_MIN, isInt64, petOf } from '../../../src/model.ts'
import { isStorable } from '../../../src/schemas/text.ts'
import { inBatches, statementRules } from './batches.ts'
import { inBackground, type PostgresContext } from './connection.ts'
import { createStatements } from './create-statements.ts'
import { readStatements } from './statements.ts'

/**
 * 64-bit integers are text, because a JavaScript number would lose digits. Each column name is one
 * lower-case word, because some drivers rename columns such as `category_id`.
 */
interface PetRow {
  readonly id: string
  readonly name: string
  readonly category: string
  readonly status: PetStatus
}

/**
 * The largest size of a batch: the number of characters of its JSON, plus `ROW_SIZE` for each
 * animal.
 */
const LARGEST_BATCH = 500_000
const ROW_SIZE = 100

const NO_TURN =
  'PostgreSQL added no animal, because the table "turn" has no row with the id 1: call migrate(), or restore the row with INSERT INTO turn VALUES (1)'

interface Given {
  /** The animal as a JSON object, with its idempotency key and fingerprint if it has them. */
  readonly json: string
  readonly hasKey: boolean
}

interface AddedRow {
  readonly id: string
  /** Whether the fingerprints are equal; `null` if the idempotency key was new. */
  readonly same?: boolean | null
}

/** The settings of a storage that its statements need besides those of each back end. */
interface StorageContext extends PostgresContext {
  readonly parallelCreates: boolean
}

/**
 * Animals that are added at the same time share one statement with one commit, and clients get 201
 * after that commit.
 */
export function postgresStorage(context: StorageContext): PetStorage {
  const { query, schema, clock, lockTimeout, report } = context
  const read = readStatements(schema)
  const write = createStatements(context)
  const now = () => clock?.now() ?? null

  const add = inBatches({
    ...statementRules(lockTimeout),
    send: addAll,
    maxSize: LARGEST_BATCH,
    sizeOf: ({ json }: Given) => json.length + ROW_SIZE,
  })
  const pruneKeys = inBackground(() => query(read.pruneExpiredKeys, [now()]), report)

  async function addAll(given: readonly Given[]): Promise<readonly AddedRow[]> {
    const pets = `[${given.map(({ json }) => json)}]`
    const keys = given.filter(({ hasKey }) => hasKey).length
    const rows = await (keys === 0 ? query<AddedRow>(write.add, [pets]) : query<AddedRow>(write.addOnce, [pets, now()]))
    if (rows.length < given.length) throw new Error(NO_TURN)
    // Prune only after the statement: pruning may wait for locks without a limit, and could block
    // the only connection of a pool.
    if (keys > 0) pruneKeys(keys)
    return rows
  }

  async function create(
    pet: PetMembers,
    idempotency: Idempotency | undefined,
    context: CallContext | undefined,
  ): Promise<CreatedPet> {
    const { id, same = null } = await add(
      { json: jsonOf(pet, idempotency), hasKey: idempotency !== undefined },
      context,
    )
    const created = petOf(toBigInt(id), pet)
    return same === null ? created : { ...created, earlier: same ? 'same' : 'different' }
  }

  return {
    async list({ limit, after = INT64_MIN, status }) {
      const values = [String(after), limit]
      const rows =
        status === undefined
          ? await query<PetRow>(read.listAll, values)
          : await query<PetRow>(read.listStatus, [...values, status])
      return rows.map(toPet)
    },
    create: (pet, { idempotency } = {}, context) => create(pet, idempotency, context),
    async get(id) {
      const [row] = await query<PetRow>(read.getOne, [String(id)])
      return row && toPet(row)
    },
  }
}

/**
 * Throws for a value that PostgreSQL cannot store: otherwise, it would reject all animals of the
 * statement.
 */
function jsonOf({ name, categoryId, status }: PetMembers, idempotency: Idempotency | undefined): string {
  if (!isStorable(name) || !isInt64(categoryId))
    throw new TypeError(
      'PostgreSQL cannot store this animal: expected a name without U+0000 or lone surrogates, and an int64',
    )
  const row = { name, category: String(categoryId), status }
  if (idempotency === undefined) return JSON.stringify(row)
  const { scope, key, fingerprint } = idempotency
  // Texts in JSON, because they may contain U+0000 or lone surrogates.
  const hashed = { key: JSON.stringify(scope) + JSON.stringify(key), fingerprint: JSON.stringify(fingerprint) }
  return JSON.stringify({ ...row, ...hashed })
}

function toPet({ id, name, category, status }: PetRow): Pet {
  return petOf(toBigInt(id), { name, categoryId: toBigInt(category), status })
}

/** Converts a short text to a number first, which is faster, and exact up to 15 digits. */
function toBigInt(text: string): bigint {
  return BigInt(text.length < 16 ? Number(text) : text)
}
