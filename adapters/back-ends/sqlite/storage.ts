import type { IdempotencyHashes } from '../../../src/back-end.ts'
import type {
  CallContext,
  ChangedPet,
  ChangeOptions,
  Clock,
  CreatedPet,
  Idempotency,
  MaybePromise,
  Pet,
  PetChanges,
  PetMembers,
  PetStatus,
  PetStorage,
} from '../../../src/index.ts'
import { petOf } from '../../../src/model.ts'
import { pruneSchedule } from '../shared/prune.ts'
import type { Command, RunAll, RunOne, SqliteValue } from './statements.ts'

type Row = readonly [id: string, name: string, categoryId: string, status: PetStatus]

type JsonRows = readonly [{ readonly json: string }?]

interface Tables {
  readonly read: RunOne
  readonly transact: RunAll
  readonly hash: (idempotency: Idempotency) => MaybePromise<IdempotencyHashes>
  /** The clock by which idempotency keys expire; `undefined` for the clock of the engine. */
  readonly clock: Clock | undefined
}

/**
 * The engine has one writer at a time. So animals become visible in the order of their ids, and a
 * repeated create waits for the commit of the first create with its idempotency key.
 */
export function tableStorage({ read, transact, hash, clock }: Tables): PetStorage {
  const isPruneDue = pruneSchedule()

  async function create(pet: PetMembers, context?: CallContext): Promise<Pet> {
    const { name, categoryId, status } = pet
    const [added] = await transact([['addPet', name, `${categoryId}`, status]], context)
    return addedPet(added, pet)
  }

  async function createWithKey(pet: PetMembers, idempotency: Idempotency, context?: CallContext): Promise<CreatedPet> {
    const { name, categoryId, status } = pet
    const { key, fingerprint } = await hash(idempotency)
    const now = clock?.now() ?? null
    const commands: Command[] = [
      ['removeExpiredKey', key, now],
      ['addPetOnce', name, `${categoryId}`, status, key],
      ['useKey', key, fingerprint, now],
      ['usedKey', key],
    ]
    if (isPruneDue()) commands.push(['removeExpiredKeys', now, now])
    const [_expired, added, used, found = []] = await transact(commands, context).catch(explainDropped)
    if (used?.length === 1) return addedPet(added, pet)
    const [earlierFingerprint, row] = parse(found) as [string, Row]
    return { ...fromRow(row), earlier: earlierFingerprint === fingerprint ? 'same' : 'different' }
  }

  /** Changes or removes an animal by the first command, and reads it if that has not been applied. */
  async function change(command: Command, id: bigint, context?: CallContext): Promise<ChangedPet | undefined> {
    const [changed = [], found = []] = await transact([command, ['pet', `${id}`]], context)
    if (changed.length > 0) return { applied: true, pet: fromRow(parse(changed) as Row) }
    return found.length > 0 ? { applied: false, pet: fromRow(parse(found) as Row) } : undefined
  }

  return {
    async list({ limit, after = 0n, status }) {
      const rows =
        status === undefined
          ? await read('page', `${after}`, limit)
          : await read('pageOfStatus', status, `${after}`, limit)
      return (parse(rows) as Row[]).map(fromRow)
    },
    async get(id) {
      const rows = await read('pet', `${id}`)
      return rows.length === 0 ? undefined : fromRow(parse(rows) as Row)
    },
    create: (pet, { idempotency } = {}, context) =>
      idempotency === undefined ? create(pet, context) : createWithKey(pet, idempotency, context),
    update: (id, changes, options, context) =>
      change(['updatePet', ...valuesOf(changes), ...matching(id, options)], id, context),
    remove: (id, options, context) => change(['removePet', ...matching(id, options)], id, context),
    async restore(pets, context) {
      const rows = pets.map(({ id, name, categoryId, status }) => [`${id}`, name, `${categoryId}`, status])
      const [restored = []] = await transact([['restorePets', JSON.stringify(rows)]], context)
      const ids = new Set((restored as { readonly id: string }[]).map(({ id }) => id))
      return pets.map(({ id }) => id).filter((id) => !ids.delete(`${id}`))
    },
    async count(status) {
      const [row] = status === undefined ? await read('count') : await read('countOfStatus', status)
      return Number((row as { readonly count: string }).count)
    },
  }
}

/** Returns the values of an animal for a statement: null for each that is absent. */
function valuesOf({ name, categoryId, status }: PetChanges): SqliteValue[] {
  return Object.values({
    name: name ?? null,
    categoryId: categoryId === undefined ? null : `${categoryId}`,
    status: status ?? null,
  } satisfies Record<keyof PetChanges, SqliteValue>)
}

function matching(id: bigint, options: ChangeOptions | undefined): SqliteValue[] {
  return [`${id}`, ...valuesOf(options?.if ?? {})]
}

function parse(rows: readonly unknown[]): unknown {
  return JSON.parse((rows as JsonRows)[0]?.json ?? '[]')
}

/** Returns the animal whose id the database has returned. */
function addedPet(rows: readonly unknown[] | undefined, pet: PetMembers): Pet {
  const [row] = rows as [{ readonly id: string }?]
  if (row === undefined) throw nothingAdded()
  return petOf(BigInt(row.id), pet)
}

/** Explains the error of the statement `usedKey`. */
function explainDropped(error: unknown): never {
  throw /malformed JSON/.test(String(error)) ? nothingAdded() : error
}

function nothingAdded(): Error {
  return new Error(
    'the database added no animal, and reported no error: look for a trigger on petstore_pets or petstore_used_keys',
  )
}

function fromRow([id, name, categoryId, status]: Row): Pet {
  return petOf(BigInt(id), { name, categoryId: BigInt(categoryId), status })
}
