import { PetStoreError } from '../errors.ts'
import { MAX_LIMIT, type NewPet, type Pet, type PetStatus, petStatuses, type RateLimit } from '../model.ts'
import { type OperationName, operations } from '../operations.ts'
import { IDEMPOTENCY_KEY, KEY_EXPECTED } from '../schemas/idempotency-key.ts'
import type { pageParameters } from '../schemas/query.ts'
import { describeValue } from '../support/describe-value.ts'
import { systemClock } from '../support/time.ts'
import { type ClientRequest, createExchange, createSignalFollower, type Reply } from './exchange.ts'
import { createGate } from './gate.ts'
import { stringifyJson } from './json.ts'
import {
  type ClientSeams,
  checkNames,
  invalidOption,
  type PetStoreClientOptions,
  resolveClientOptions,
} from './options.ts'
import type { RateLimitWindows } from './rate-limit-fields.ts'
import { nextCursor, unexpectedResponse } from './response.ts'

/** The options that every method of the client accepts. */
export interface CallOptions {
  /**
   * Aborts the request and any wait before the next attempt. The call then rejects with the reason
   * of the signal.
   */
  readonly signal?: AbortSignal | undefined
}

/** The options of {@link PetStoreClient.listPets}. */
export interface ListPetsOptions extends CallOptions {
  /** Lists only animals with this status. @default animals of every status */
  readonly status?: PetStatus | undefined
  /** The largest number of animals: a whole number from 1 to 100. @default 20 */
  readonly limit?: number | undefined
  /** The value `next` of the page before. @default the first page */
  readonly cursor?: string | undefined
}

/** The options of {@link PetStoreClient.pets}. */
export interface PetsOptions extends Omit<ListPetsOptions, 'limit' | 'cursor'> {
  /** How many animals one request reads: a whole number from 1 to 100. @default 100 */
  readonly pageSize?: number | undefined
}

/** The options of {@link PetStoreClient.createPet}. */
export interface CreatePetOptions extends CallOptions {
  /**
   * Identifies the animal for 48 hours: several requests with this key add it only once. 1 to 255
   * visible ASCII characters or spaces, such as an order number; `null` sends no key.
   * @default a random key for each call
   */
  readonly idempotencyKey?: string | null | undefined
}

/** A page of animals. */
export interface PetPage {
  /** The animals, by ascending id. */
  readonly pets: readonly Pet[]
  /** The cursor of the next page; `undefined` on the last page. */
  readonly next: string | undefined
}

/**
 * A client of the API. Every method rejects with a {@link PetStoreError}, or with the reason of an
 * aborted signal.
 */
export interface PetStoreClient {
  /** Lists one page of animals. */
  listPets(options?: ListPetsOptions): Promise<PetPage>
  /** Iterates over all animals. Requests each page when it is needed. */
  pets(options?: PetsOptions): AsyncGenerator<Pet, void, undefined>
  /**
   * Adds an animal once: all attempts send the same idempotency key. If the call rejects, its error
   * contains this key.
   */
  createPet(pet: NewPet, options?: CreatePetOptions): Promise<Pet>
  /**
   * Reads one animal.
   * @deprecated Removed on 5 December 2030: use `listPets` or `pets` with a `status`.
   */
  getPet(id: bigint, options?: CallOptions): Promise<Pet>
  /**
   * The rate limit in the last response that had one. This object stays the same, and its members
   * change with each response. It is empty before the first one. With the option
   * `standardRateLimitHeaders` of the server, it has both windows too.
   */
  readonly rateLimit: Readonly<Partial<RateLimit>> & RateLimitWindows
}

/** The parameters of a list. The compiler requires each parameter of the service here and in {@link ListPetsOptions}. */
const PARAMETERS = Object.keys({ limit: true, status: true, cursor: true } satisfies Record<
  keyof typeof pageParameters,
  true
>) as readonly (keyof typeof pageParameters)[]

const LIST_OPTIONS = [...PARAMETERS, 'signal']
const PETS_OPTIONS = [...LIST_OPTIONS.filter((name) => name !== 'limit' && name !== 'cursor'), 'pageSize']
const CREATE_OPTIONS = ['idempotencyKey', 'signal']
const GET_OPTIONS = ['signal']

/**
 * Creates a client that keeps ids exact, and sends a failed request again if that is safe. All calls
 * share at most eight requests in flight. After a 429, 502, 503, 504 or a network fault, all calls
 * wait: as long as `Retry-After` says, and then for a random time that grows with each failure.
 * Idempotency keys prevent that an animal is added twice.
 * @throws {PetStoreError} `invalid_option`, with the name of the option
 * @example
 * ```ts
 * import { createPetStoreClient } from 'petstore-kit/client'
 * import { createTestPetStore } from 'petstore-kit/testing'
 *
 * const { fetch, token } = await createTestPetStore()
 * const client = createPetStoreClient({ baseUrl: 'https://api.example/v1', apiKey: token, fetch })
 * const { id } = await client.createPet({ name: 'Rex', categoryId: 7n })
 * for await (const pet of client.pets({ status: 'available' })) console.log(pet.id === id) // true
 * ```
 */
export function createPetStoreClient(options: PetStoreClientOptions): PetStoreClient {
  return createClient(options)
}

export function createClient(options: PetStoreClientOptions, seams: ClientSeams = {}): PetStoreClient {
  const resolved = resolveClientOptions(options)
  const { clock = systemClock } = seams
  const exchange = createExchange(resolved, () => clock.now())
  const { pass, rateLimit } = createGate(resolved, seams)
  const follow = createSignalFollower()

  async function send(request: ClientRequest, caller: AbortSignal | undefined): Promise<Reply> {
    const { signal, release } = follow(caller)
    // Without an idempotency key, a second POST could add a second animal.
    const isRepeatable = operations[request.operation].isRepeatable || request.idempotencyKey !== undefined
    try {
      const reply = await pass(signal, () => exchange(request, signal), isRepeatable)
      if (reply.error) throw reply.error
      return reply
    } finally {
      release()
    }
  }

  async function listPets(options: ListPetsOptions = {}): Promise<PetPage> {
    checkNames(options, LIST_OPTIONS)
    const reply = await send({ operation: 'listPets', query: queryOf(options) }, options.signal)
    const { value } = reply
    if (!Array.isArray(value) || !value.every(isPet)) throw unexpectedResponse(reply, 'an array of animals')
    return { pets: value, next: nextCursor(reply) }
  }

  async function* pets(options: PetsOptions = {}): AsyncGenerator<Pet, void, undefined> {
    checkNames(options, PETS_OPTIONS)
    const { pageSize = MAX_LIMIT, ...others } = options
    const seen = new Set<string | undefined>()
    let cursor: string | undefined
    do {
      const page = await listPets({ ...others, limit: pageSize, cursor })
      yield* page.pets
      cursor = page.next
      // Without this check, a server that sends a cursor again would make the iteration endless.
      if (seen.has(cursor)) {
        const message = `expected a new cursor with each page, got the cursor ${describeValue(cursor)} again`
        throw new PetStoreError('unexpected_response', message, { status: 200 })
      }
      seen.add(cursor)
    } while (cursor !== undefined)
  }

  async function createPet(pet: NewPet, options: CreatePetOptions = {}): Promise<Pet> {
    checkNames(options, CREATE_OPTIONS)
    const { idempotencyKey: chosen = newKey(clock.now()), signal } = options
    if (chosen !== null && !isIdempotencyKey(chosen))
      throw invalidOption('idempotencyKey', `${KEY_EXPECTED}, or null`, describeValue(chosen))
    const { name, categoryId, status } = pet
    checkExact('categoryId', categoryId)
    const body = stringifyJson({ name, categoryId, status } satisfies Record<keyof NewPet, unknown>)
    const idempotencyKey = chosen ?? undefined
    try {
      return petOf(await send({ operation: 'createPet', body, idempotencyKey }, signal))
    } catch (error) {
      throw error instanceof PetStoreError && idempotencyKey !== undefined
        ? Object.assign(error, { idempotencyKey })
        : error
    }
  }

  async function getPet(id: bigint, options: CallOptions = {}): Promise<Pet> {
    checkNames(options, GET_OPTIONS)
    checkExact('id', id)
    return petOf(await send({ operation: 'getPet', parameters: { petId: id } }, options.signal))
  }

  const calls = { listPets, createPet, getPet } satisfies Record<OperationName, unknown>
  return { ...calls, pets, rateLimit }
}

/**
 * Returns a query such as `?limit=2`; empty without parameters. Of `URLSearchParams`, Safari 16 lacks
 * `size`, and React Native most methods.
 */
function queryOf(options: ListPetsOptions): string {
  const given = PARAMETERS.filter((name) => options[name] !== undefined)
  const parameters = given.map((name) => `${name}=${encodeURIComponent(String(options[name]))}`)
  return parameters.length === 0 ? '' : `?${parameters.join('&')}`
}

/**
 * Returns a new idempotency key. It has to be unique, not secret. Web pages without HTTPS have no
 * `randomUUID`, and React Native has no `crypto`: there, the key is the time in milliseconds and two
 * random numbers of 52 bits.
 */
function newKey(now: number): string {
  const uuid = globalThis.crypto?.randomUUID?.()
  return uuid ?? [now, Math.random(), Math.random()].join('-')
}

function isIdempotencyKey(value: unknown): boolean {
  return typeof value === 'string' && IDEMPOTENCY_KEY.test(value)
}

/** Throws if an id may have been rounded: TypeScript requires a `bigint`, but JavaScript programs pass numbers. */
function checkExact(name: string, value: unknown): void {
  if (typeof value === 'number' && !Number.isSafeInteger(value))
    throw invalidOption(name, 'a bigint such as 7n, because JavaScript rounds numbers above 2^53', describeValue(value))
}

/** Returns whether a value is an animal. Other members are kept: a later version of the service may add some. */
function isPet(value: unknown): value is Pet {
  const { id, name, categoryId, status } = Object(value) as Partial<Pet>
  const hasStatus = status === undefined || petStatuses.includes(status)
  return typeof id === 'bigint' && typeof name === 'string' && typeof categoryId === 'bigint' && hasStatus
}

function petOf(reply: Reply): Pet {
  const { value } = reply
  if (!isPet(value)) throw unexpectedResponse(reply, 'an animal')
  return value
}
