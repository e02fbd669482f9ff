import type { ChangedPet, Idempotency, Pet, PetChanges, PetMembers, PetStatus, PetStorage } from '../../../src/index.ts'
import { isInt64, petOf } from '../../../src/model.ts'
import { fingerprintText, keyText } from '../../../src/pets/idempotency.ts'
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

/** What `add_pets` returns for an animal. */
interface AddedRow extends PetRow {
  /** Whether the fingerprints are equal; null if the idempotency key was new. */
  readonly same: boolean | null
}

/** What `update_pet` and `remove_pet` return for an animal. */
interface ChangedRow extends PetRow {
  readonly applied: boolean
}

/** An animal to add as a JSON object, with its idempotency key and fingerprint if it has them. */
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
      const plain = given.filter(({ hasKey }) => !hasKey)
      const keyed = given.filter(({ hasKey }) => hasKey)
      const values = [jsonArray(plain), jsonArray(keyed), now(), lockTimeout]
      const rows = await query<AddedRow>(statements.addPets, values)
      if (keyed.length > 0) pruneKeys(keyed.length)
      // The function returns the animals without a key first.
      const added = new Map([...plain, ...keyed].map((one, index) => [one, rows[index]]))
      return given.map((one) => added.get(one) as AddedRow)
    },
    maxSize: LARGEST_BATCH,
    sizeOf: ({ json }) => json.length + ROW_SIZE,
  })

  return {
    async list({ limit, after = 0n, status }) {
      const values = [String(after), limit]
      const rows =
        status === undefined
          ? await query<PetRow>(statements.page, values)
          : await query<PetRow>(statements.pageOfStatus, [...values, status])
      return rows.map(toPet)
    },
    async create(pet, { idempotency } = {}, context) {
      const added = await add({ json: jsonOf(pet, idempotency), hasKey: idempotency !== undefined }, context)
      const created = toPet(added)
      return added.same === null ? created : { ...created, earlier: added.same ? 'same' : 'different' }
    },
    async get(id) {
      const [row] = await query<PetRow>(statements.pet, [String(id)])
      return row && toPet(row)
    },
    async update(id, changes, options) {
      const values = [String(id), partOf(changes), partOf(options?.if), lockTimeout]
      return toChangedPet(await query<ChangedRow>(statements.updatePet, values))
    },
    async remove(id, options) {
      const values = [String(id), partOf(options?.if), lockTimeout]
      return toChangedPet(await query<ChangedRow>(statements.removePet, values))
    },
    async restore(pets) {
      const rows = pets.map((pet) => ({ id: String(pet.id), ...rowOf(pet) }))
      const restored = await query<{ id: string }>(statements.restorePets, [JSON.stringify(rows), lockTimeout])
      const ids = new Set(restored.map(({ id }) => id))
      return pets.map(({ id }) => id).filter((id) => !ids.delete(String(id)))
    },
    async count(status) {
      const [row] =
        status === undefined
          ? await query<{ count: string }>(statements.count)
          : await query<{ count: string }>(statements.countOfStatus, [status])
      return Number(row?.count)
    },
  }
}

function jsonArray(given: readonly Given[]): string {
  return `[${given.map(({ json }) => json)}]`
}

function toChangedPet([row]: readonly ChangedRow[]): ChangedPet | undefined {
  return row && { applied: row.applied, pet: toPet(row) }
}

/** Returns values of an animal as JSON for a function, which ignores absent members. */
function partOf({ name, categoryId, status }: PetChanges = {}): string {
  requireStorable(name ?? '', categoryId ?? 0n)
  return JSON.stringify({ name, category: categoryId?.toString(), status })
}

/** Returns an animal as JSON, with the columns of `animal` in the function `add_pets`. */
function jsonOf(pet: PetMembers, idempotency: Idempotency | undefined): string {
  const row = rowOf(pet)
  if (idempotency === undefined) return JSON.stringify(row)
  return JSON.stringify({ ...row, key: keyText(idempotency), fingerprint: fingerprintText(idempotency) })
}

function rowOf({ name, categoryId, status }: PetMembers) {
  requireStorable(name, categoryId)
  return { name, category: String(categoryId), status }
}

/**
 * Throws for a value that PostgreSQL cannot store: otherwise, it would reject all animals of the
 * statement.
 */
function requireStorable(name: string, categoryId: bigint): void {
  if (!isStorable(name) || !isInt64(categoryId))
    throw new TypeError(
      'PostgreSQL cannot store this animal: expected a name without U+0000 or lone surrogates, and an int64',
    )
}

function toPet({ id, name, category, status }: PetRow): Pet {
  return petOf(toBigInt(id), { name, categoryId: toBigInt(category), status })
}

/** Converts a short text to a number first, which is faster, and exact up to 15 digits. */
function toBigInt(text: string): bigint {
  return BigInt(text.length < 16 ? Number(text) : text)
}
