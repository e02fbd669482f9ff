import type * as z from 'zod/mini'
import { isPetStoreError, PetStoreError } from '../errors.ts'
import type { RateLimit } from '../model.ts'
import { MAX_LIMIT, type NewPet, type Pet, type PetStatus } from '../model.ts'
import type { OperationName } from '../operations.ts'
import { IDEMPOTENCY_KEY, KEY_EXPECTED } from '../schemas/idempotency-key.ts'
import { invalidOption } from '../schemas/options.ts'
import { pet, pets as petArray } from '../schemas/pet.ts'
import type { pageParameters } from '../schemas/query.ts'
import { describeValue } from '../support/describe-value.ts'
import { isUrl } from '../support/text.ts'
import { parseJsonIfValid, stringifyJson } from './json.ts'
import { type ClientSeams, type PetStoreClientOptions, resolveClientOptions } from './options.ts'
import { unexpectedResponse } from './response-error.ts'
import { linkTarget } from './response-headers.ts'
import { type ClientResponse, createSender } from './send.ts'

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
export interface PetsOptions extends Pick<ListPetsOptions, 'status' | 'signal'> {
  /** How many animals one request reads: a whole number from 1 to 100. @default 100 */
  readonly pageSize?: number | undefined
}

/** The options of {@link PetStoreClient.createPet}. */
export interface CreatePetOptions extends CallOptions {
  /**
   * Identifies the animal for 48 hours: several requests with this key add it only once. 1 to 255
   * visible ASCII characters or spaces, such as an order number; `null` sends no key.
   * @default a random UUID for each call
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
  /** The rate limit in the last response; `undefined` before the first response. */
  readonly rateLimit: RateLimit | undefined
}

/**
 * Creates a client that keeps ids exact, and sends a failed request again if that is safe. After a
 * 429, 502, 503, 504 or a network fault, all calls wait: as long as `Retry-After` says, and then
 * for a random time that grows with each failure. Idempotency keys prevent that an animal is added
 * twice.
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
  const { send, lastRateLimit } = createSender(resolveClientOptions(options, seams))

  async function listPets({ status, limit, cursor, signal }: ListPetsOptions = {}): Promise<PetPage> {
    const parameters = { status, limit, cursor } satisfies Record<keyof typeof pageParameters, unknown>
    const query = new URLSearchParams()
    for (const [name, value] of Object.entries(parameters)) if (value !== undefined) query.set(name, String(value))
    const received = await send({ operation: 'listPets', query, signal })
    return { pets: parseBody(received, 'an array of animals', petArray), next: readNextCursor(received) }
  }

  async function* pets({ pageSize = MAX_LIMIT, ...others }: PetsOptions = {}) {
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

  return {
    listPets,
    pets,
    async createPet({ name, categoryId, status }, { idempotencyKey: chosen, signal } = {}) {
      checkExact('categoryId', categoryId)
      if (chosen != null && !isIdempotencyKey(chosen))
        throw invalidOption('idempotencyKey', `${KEY_EXPECTED}, or null`, chosen)
      const body = stringifyJson({ name, categoryId, status } satisfies Record<keyof NewPet, unknown>)
      // On a web page without HTTPS, browsers have no `randomUUID`.
      const idempotencyKey = chosen === null ? undefined : (chosen ?? crypto.randomUUID?.())
      try {
        return parseBody(await send({ operation: 'createPet', body, idempotencyKey, signal }), 'an animal', pet)
      } catch (error) {
        throw isPetStoreError(error) && idempotencyKey !== undefined ? Object.assign(error, { idempotencyKey }) : error
      }
    },
    async getPet(id, { signal } = {}) {
      checkExact('id', id)
      return parseBody(await send({ operation: 'getPet', parameters: { petId: id }, signal }), 'an animal', pet)
    },
    get rateLimit() {
      return lastRateLimit()
    },
  } satisfies Record<OperationName, unknown> & PetStoreClient
}

/**
 * Throws if an id may have been rounded: TypeScript requires a `bigint`, but JavaScript programs
 * pass numbers.
 */
function checkExact(name: string, value: unknown): void {
  if (typeof value === 'number' && !Number.isSafeInteger(value))
    throw invalidOption(name, 'a bigint such as 7n, because JavaScript rounds numbers above 2^53', value)
}

function isIdempotencyKey(value: unknown): boolean {
  return typeof value === 'string' && IDEMPOTENCY_KEY.test(value)
}

function parseBody<T>(response: ClientResponse, what: string, schema: z.ZodMiniType<T>): T {
  const value = parseJsonIfValid(response.body)
  if (value === undefined) throw unexpectedResponse(response, 'JSON')
  const parsed = schema.safeParse(value)
  if (!parsed.success) throw unexpectedResponse(response, what)
  return parsed.data
}

/**
 * The longest `Link` header that is read, in characters: Node's limit for all headers of a
 * response.
 */
const MAX_LINK = 16_384

/**
 * Returns the cursor of the next page. Ignores the rest of a link: its host may be another server,
 * which would get the API key.
 */
function readNextCursor(response: ClientResponse): string | undefined {
  const { headers, url } = response
  const bare = headers.get('X-Next-Cursor')
  if (bare) return bare
  const link = headers.get('Link') ?? ''
  const target = linkTarget(link.slice(0, MAX_LINK), 'next')
  // Without this error, the iteration would end although there are more pages.
  if (target === undefined && link.length > MAX_LINK)
    throw unexpectedResponse(response, `a Link header of at most ${MAX_LINK} characters`)
  if (target === undefined) return undefined
  const cursor = isUrl(target, url) ? new URL(target, url).searchParams.get('cursor') : null
  if (!cursor) throw unexpectedResponse(response, 'a Link to the next page with a cursor')
  return cursor
}
