import { PetStoreError } from '../errors.ts'
import { type Pet, type PetStatus, petOf } from '../model.ts'
import type { ChangedPet, Idempotency, PetQuery, PetStorage } from '../ports.ts'
import { type HostPetSchemas, hostPetOptions } from '../schemas/host-pets.ts'
import { parseOption, parseOptions } from '../schemas/parse-options.ts'
import type { PetInput } from '../schemas/pet.ts'
import { describeValue } from '../support/describe-value.ts'
import { fingerprintOf, isReplay } from './idempotency.ts'

/** Values for some members of an animal. */
export type PetPatch = { readonly [Name in keyof PetInput]?: PetInput[Name] | undefined }

/** The options of {@link Pets.add}. */
export interface AddOptions {
  /**
   * An idempotency key of the host: several calls with this key within 48 hours add one animal.
   * 1 to 255 visible ASCII characters or spaces. Keys of clients are independent.
   * @default each call adds an animal
   */
  readonly once?: string | undefined
}

/** The options of {@link Pets.update} and {@link Pets.remove}. */
export interface ConditionOptions {
  /** The call has an effect only if the animal has these values. @default no condition */
  readonly if?: PetPatch | undefined
}

/** Selects animals of {@link Pets.all}. */
export interface PetFilter {
  /** Select only animals with this status. @default animals of every status */
  readonly status?: PetStatus | undefined
  /** Select only animals with an id greater than this id. @default from the first animal on */
  readonly after?: bigint | number | undefined
}

/** Selects the animals of {@link Pets.list}. */
export interface PetPageQuery extends PetFilter {
  /** The largest number of animals: a whole number from 1 to 100. @default 20 */
  readonly limit?: number | undefined
}

/** The result of {@link Pets.addAll}. */
export interface AddedPets {
  /** How many animals this call has added. */
  readonly added: number
  /** How many animals an earlier call with the same `once` had added. */
  readonly repeated: number
}

/**
 * The animals, for the program that embeds the store. Every argument is checked by the rules of the
 * store, and every call has its time limit. Calls need no API key, are not counted, and do not appear
 * in `onResponse`. For an id, a number is exact up to 2^53-1; a greater one has to be a `bigint`.
 *
 * Each call may reject with a {@link PetStoreError}: `invalid_option` for a wrong argument,
 * `pets_not_supported` if the storage lacks an optional method, and `service_unavailable` after the
 * time limit. It passes other errors of the storage on.
 */
export interface Pets {
  /**
   * Adds an animal, and returns it when it is durable.
   * @throws {PetStoreError} `idempotency_key_reused` if `once` was used for another animal
   */
  add(pet: PetInput, options?: AddOptions): Promise<Pet>
  /**
   * Adds animals from an array or a stream, of which only some are in memory at once. Stops at the first
   * failure; the animals before it stay. With `once: 'import-7'`, their keys are `import-7:1`,
   * `import-7:2` and so on, so the same call may be repeated within 48 hours: it adds only those that are missing.
   */
  addAll(pets: Iterable<PetInput> | AsyncIterable<PetInput>, options?: AddOptions): Promise<AddedPets>
  /**
   * Adds animals with the ids that they have, all or none. An animal whose id exists is left out. Returns these ids.
   */
  restore(pets: readonly (PetInput & { readonly id: bigint | number })[]): Promise<readonly bigint[]>
  /** Returns the animal with this id, or `undefined`. */
  get(id: bigint | number): Promise<Pet | undefined>
  /** Returns one page of animals by ascending id. For the next page, pass the last id as `after`. */
  list(query?: PetPageQuery): Promise<readonly Pet[]>
  /** Iterates over all animals by ascending id. Reads a page when it is needed. */
  all(filter?: PetFilter): AsyncGenerator<Pet, void, undefined>
  /** Returns the number of animals with this status, or of all animals. */
  count(filter?: Pick<PetFilter, 'status'>): Promise<number>
  /**
   * Changes an animal in one atomic step, and returns it when the change is durable. If several calls
   * with the same condition compete, only one succeeds.
   * @throws {PetStoreError} `pet_not_found`; `condition_failed`, whose member `pet` is the animal as it is
   * @example
   * ```ts
   * import { createPetStore } from 'petstore-kit'
   *
   * const { pets } = createPetStore()
   * const { id } = await pets.add({ name: 'Rex', categoryId: 1 })
   * const rex = await pets.update(id, { status: 'sold' }, { if: { status: 'available' } })
   * console.log(rex.status) // sold
   * ```
   */
  update(id: bigint | number, changes: PetPatch, options?: ConditionOptions): Promise<Pet>
  /**
   * Removes an animal, and returns it as it was. Its id is never given again.
   * @throws {PetStoreError} `pet_not_found`; `condition_failed`, whose member `pet` is the animal as it is
   */
  remove(id: bigint | number, options?: ConditionOptions): Promise<Pet>
}

/** The scope of the host's idempotency keys. Scopes of clients, such as `key:…`, have a colon. */
const HOST_SCOPE = 'host'
/** How many animals `addAll` adds at once: databases store them in batches. */
const ADDED_AT_ONCE = 100
/** How many animals `all` reads at once. */
const PAGE_SIZE = 100

/** Returns the animals of a store, for its host. */
export function hostPets(storage: PetStorage, { newPet, restored, changes }: HostPetSchemas): Pets {
  async function create(name: string, given: PetInput, key: string | undefined) {
    const pet = parseOption(name, newPet, given)
    const asSent = { ...pet, status: given.status }
    const idempotency: Idempotency | undefined =
      key === undefined ? undefined : { scope: HOST_SCOPE, key, fingerprint: fingerprintOf(asSent) }
    const created = await storage.create(pet, { idempotency })
    return { pet: petOf(created.id, created), isRepeated: isReplay(created) }
  }

  async function* all({ status, after: first }: Omit<PetQuery, 'limit'>): AsyncGenerator<Pet, void, undefined> {
    let after = first
    let page: readonly Pet[]
    do {
      page = await storage.list({ limit: PAGE_SIZE, status, after })
      yield* page
      const last = page.at(-1)
      // A storage in plain JavaScript may return a number.
      after = last && BigInt(last.id)
    } while (page.length === PAGE_SIZE)
  }

  async function count(status: PetStatus | undefined): Promise<number> {
    if (storage.count) return storage.count(status)
    let counted = 0
    for await (const _ of all({ status })) counted += 1
    return counted
  }

  return {
    async add(given, options = {}) {
      const { once } = parseOptions(hostPetOptions.add, options)
      return (await create('pet', given, once)).pet
    },
    async addAll(pets, options = {}) {
      const { once } = parseOptions(hostPetOptions.addAll, options)
      const result = { added: 0, repeated: 0 }
      let taken = 0
      await forEachAtOnce(parseOption('pets', hostPetOptions.pets, pets), async (given) => {
        const index = taken
        taken += 1
        const key = once === undefined ? undefined : `${once}:${index + 1}`
        const { isRepeated } = await create(`pets[${index}]`, given, key)
        result[isRepeated ? 'repeated' : 'added'] += 1
      })
      return result
    },
    async restore(pets) {
      const given = parseOption('pets', restored, pets)
      if (!storage.restore) throw notSupported('restore')
      return storage.restore(given)
    },
    async get(id) {
      return (await storage.get(parseOption('id', hostPetOptions.id, id))) ?? undefined
    },
    list: async (query = {}) => storage.list(parseOptions(hostPetOptions.list, query)),
    all: (filter = {}) => all(parseOptions(hostPetOptions.all, filter)),
    count: async (filter = {}) => count(parseOptions(hostPetOptions.count, filter).status),
    async update(id, given, options = {}) {
      const checkedId = parseOption('id', hostPetOptions.id, id)
      const checkedChanges = parseOption('changes', changes, given)
      const checkedOptions = parseOptions(hostPetOptions.change, options)
      if (!storage.update) throw notSupported('update')
      return changedPet(checkedId, await storage.update(checkedId, checkedChanges, checkedOptions))
    },
    async remove(id, options = {}) {
      const checkedId = parseOption('id', hostPetOptions.id, id)
      const checkedOptions = parseOptions(hostPetOptions.change, options)
      if (!storage.remove) throw notSupported('remove')
      return changedPet(checkedId, await storage.remove(checkedId, checkedOptions))
    },
  }
}

/**
 * Calls `run` for each item, with several calls at once. After a failure, starts no more calls, and
 * rejects when all calls have ended, so that nothing is added later.
 */
async function forEachAtOnce<T>(items: Iterable<T> | AsyncIterable<T>, run: (item: T) => Promise<void>): Promise<void> {
  const running = new Set<Promise<void>>()
  const failures: unknown[] = []
  try {
    for await (const item of items) {
      const call: Promise<void> = run(item)
        .catch((error) => void failures.push(error))
        .finally(() => running.delete(call))
      running.add(call)
      if (running.size === ADDED_AT_ONCE) await Promise.race(running)
      if (failures.length > 0) break
    }
  } finally {
    await Promise.all(running)
  }
  if (failures.length > 0) throw failures[0]
}

function changedPet(id: bigint, result: ChangedPet | null | undefined): Pet {
  if (result == null) throw new PetStoreError('pet_not_found', `There is no animal with the id ${id}.`)
  const { applied, pet } = result
  if (applied === true) return pet
  if (applied === false) throw conditionFailed(pet)
  throw new TypeError(`storage: expected { applied, pet }, got ${describeValue(result)}`)
}

function conditionFailed(pet: Pet): PetStoreError {
  const message = `The animal ${pet.id} does not have the values of "if". It is ${pet.status}, of the category ${pet.categoryId}, and its name is ${describeValue(pet.name)}.`
  return Object.assign(new PetStoreError('condition_failed', message), { pet })
}

function notSupported(method: keyof PetStorage): PetStoreError {
  const message = `option storage: expected a storage with the method ${method}; add it to your storage`
  return new PetStoreError('pets_not_supported', message)
}
