import type { CallContext, CreatedPet, Pet, PetMembers, PetStatus, PetStorage } from '../../../src/index.ts'
import { INT64_MIN, isInt64, petOf } from '../../../src/model.ts'
import { hashIdempotency, type IdempotencyHashes } from '../../../src/pets/idempotency.ts'
import { isStorable } from '../../../src/schemas/text.ts'
import { inBatches } from './batches.ts'
import { inBackground, type PostgresContext } from './connection.ts'
import { petStatements } from './statements.ts'

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

/** What `add_pets` returns for an animal. `same` says whether the fingerprints of a used key are equal. */
interface AddedRow {
  readonly pet: PetRow
  readonly same?: boolean
}

/** An animal to add as a JSON object, with the hashes of its idempotency key if it has one. */
interface Given {
  readonly json: string
  readonly hasKey: boolean
}

/**
 * The largest size of a batch: the number of characters of its JSON, plus `ROW_SIZE` for each
 * animal.
 */
const LARGEST_BATCH = 500_000
const ROW_SIZE = 100

/**
 * Animals that are added at the same time share one statement with one commit, and clients get 201
 * after that commit.
 */
export function postgresStorage({ query, schema, clock, lockTimeout, report }: PostgresContext): PetStorage {
  const statements = petStatements(schema)
  const now = () => clock?.now() ?? null
  const pruneKeys = inBackground(() => query(statements.removeExpiredKeys, [now()]), report)

  const add = inBatches({
    lockTimeout,
    async send(given: readonly Given[]) {
      const pets = `[${given.map(({ json }) => json)}]`
      const rows = await query<{ readonly added: string }>(statements.addPets, [pets, now(), lockTimeout])
      const keys = given.filter(({ hasKey }) => hasKey).length
      if (keys > 0) pruneKeys(keys)
      return rows.map(({ added }) => JSON.parse(added) as AddedRow)
    },
    maxSize: LARGEST_BATCH,
    sizeOf: ({ json }) => json.length + ROW_SIZE,
  })

  async function addWithKey(pet: PetMembers, hashes: IdempotencyHashes, context?: CallContext): Promise<CreatedPet> {
    const added = await add({ json: jsonOf(pet, hashes), hasKey: true }, context)
    const created = toPet(added.pet)
    return added.same === undefined ? created : { ...created, earlier: added.same ? 'same' : 'different' }
  }

  return {
    async list({ limit, after = INT64_MIN, status }) {
      const values = [String(after), limit]
      const rows =
        status === undefined
          ? await query<PetRow>(statements.page, values)
          : await query<PetRow>(statements.pageOfStatus, [...values, status])
      return rows.map(toPet)
    },
    async create(pet, { idempotency } = {}, context) {
      if (idempotency) return addWithKey(pet, await hashIdempotency(idempotency), context)
      const { pet: added } = await add({ json: jsonOf(pet), hasKey: false }, context)
      return toPet(added)
    },
    async get(id) {
      const [row] = await query<PetRow>(statements.pet, [String(id)])
      return row && toPet(row)
    },
  }
}

/**
 * Throws for a value that PostgreSQL cannot store: otherwise, it would reject all animals of the
 * statement. The members are the columns of `entry` in the function `add_pets`.
 */
function jsonOf({ name, categoryId, status }: PetMembers, hashes?: IdempotencyHashes): string {
  if (!isStorable(name) || !isInt64(categoryId))
    throw new TypeError(
      'PostgreSQL cannot store this animal: expected a name without U+0000 or lone surrogates, and an int64',
    )
  const row = { name, category: String(categoryId), status }
  return JSON.stringify(hashes ? { ...row, key_sha256: hashes.key, fingerprint_sha256: hashes.fingerprint } : row)
}

function toPet({ id, name, category, status }: PetRow): Pet {
  return petOf(toBigInt(id), { name, categoryId: toBigInt(category), status })
}

/** Converts a short text to a number first, which is faster, and exact up to 15 digits. */
function toBigInt(text: string): bigint {
  return BigInt(text.length < 16 ? Number(text) : text)
}
