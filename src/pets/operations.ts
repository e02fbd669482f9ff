import { rejectOtherMediaTypes } from '../http/media-type.ts'
import type { ApiRequest } from '../http/request.ts'
import type { Target } from '../http/request-target.ts'
import { type ApiResponse, errorResponse, jsonResponse } from '../http/response.ts'
import { type NewPet, type Pet, type PetStatus, parseInt64 } from '../model.ts'
import type { Idempotency, MaybePromise, PetStorage } from '../ports.ts'
import { describe } from '../support/describe-value.ts'
import { andThen } from '../support/maybe-promise.ts'
import { fingerprintOf, idempotencyKeyOf, isReplay, withIdempotency } from './idempotency.ts'
import { readJson, writePet } from './json.ts'
import type { WritePage } from './page-cache.ts'
import { nextPageHeaders, parsePageQuery } from './pagination.ts'
import { type newPetSchema, parseNewPet } from './schemas.ts'

const NO_PARAMETERS = new URLSearchParams()

/** `GET /pets`: returns one page and the link to the next page. */
export function listPets(
  storage: PetStorage,
  request: ApiRequest,
  target: Target,
  linkBase: string,
  writePage: WritePage,
): MaybePromise<ApiResponse> {
  // Adds a `?`, because `URLSearchParams` removes the first `?`, and the query itself may begin with `?`.
  const parameters = target.query === '' ? NO_PARAMETERS : new URLSearchParams(`?${target.query}`)
  const { limit, after, status } = parsePageQuery(parameters)
  // One animal more than requested shows whether there is a next page.
  return andThen(storage.list({ limit: limit + 1, after, status }, request), (found) => {
    if (!Array.isArray(found)) throw new TypeError(`storage: expected an array from list, got ${describe(found)}`)
    const page: readonly Pet[] = found.slice(0, limit)
    const body = writePage(page)
    if (found.length <= limit) return jsonResponse(200, body)
    return jsonResponse(200, body, nextPageHeaders(linkBase + target.route, parameters, (page.at(-1) as Pet).id))
  })
}

/** The options that apply to the body of createPet. */
export interface BodyRules {
  /** The largest body, in bytes. */
  readonly bodyLimit: number
  readonly newPet: ReturnType<typeof newPetSchema>
  readonly defaultStatus: PetStatus | null
}

/**
 * `POST /pets`: adds one animal, or none if the idempotency key of the request has been used.
 *
 * @param linkBase - where `Location` begins; `undefined` after the removal of getPet
 * @param caller - whose idempotency keys apply, and the time of the request
 */
export function createPet(
  storage: PetStorage,
  request: ApiRequest,
  { bodyLimit, newPet, defaultStatus }: BodyRules,
  linkBase: string | undefined,
  { scope, now }: Pick<Idempotency, 'scope' | 'now'>,
): MaybePromise<ApiResponse> {
  const refusal = rejectOtherMediaTypes(request)
  if (refusal) return refusal
  const key = idempotencyKeyOf(request, storage)
  return andThen(request.body(bodyLimit), (bytes) => {
    const pet = withStatus(parseNewPet(newPet, readJson(bytes)), defaultStatus)
    const context =
      key === undefined ? request : withIdempotency(request, { scope, key, fingerprint: fingerprintOf(pet), now })
    return andThen(storage.create(pet, context), (created) => {
      const headers = key !== undefined && isReplay(created) ? ['Idempotency-Replayed', 'true'] : []
      const body = writePet(created)
      if (linkBase !== undefined) headers.push('Location', `${linkBase}/pets/${created.id}`)
      return jsonResponse(201, body, headers)
    })
  })
}

function withStatus({ name, categoryId, status }: NewPet, defaultStatus: PetStatus | null): NewPet {
  const kept = status ?? defaultStatus
  return kept === null ? { name, categoryId } : { name, categoryId, status: kept }
}

/** `GET /pets/{petId}`, deprecated: returns one animal. */
export function getPet(storage: PetStorage, request: ApiRequest, petId: string): MaybePromise<ApiResponse> {
  const id = parseInt64(petId)
  if (id === undefined) return errorResponse('pet_not_found')
  return andThen(storage.get(id, request), (pet) =>
    pet == null ? errorResponse('pet_not_found') : jsonResponse(200, writePet(pet)),
  )
}
