import { rejectOtherMediaTypes } from '../http/media-type.ts'
import type { ApiRequest, Target } from '../http/request.ts'
import { errorResponse, jsonResponse, type OwnResponse } from '../http/response.ts'
import { type NewPet, type PetStatus, parseInt64 } from '../model.ts'
import type { CreatedPet, MaybePromise, PetStorage } from '../ports.ts'
import { describe } from '../support/describe-value.ts'
import { andThen } from '../support/maybe-promise.ts'
import { fingerprintOf, idempotencyKeyOf, isReplay } from './idempotency.ts'
import { readJson, writePet } from './json.ts'
import { type pageWriter, parsePageQuery } from './pagination.ts'
import { type newPetSchema, parseNewPet } from './schemas.ts'

/** The most values of a body, also of inner arrays and objects. Each value takes time, however short it is. */
const MAX_VALUES = 2_000

/** `GET /pets`: returns one page and the link to the next page. */
export function listPets(
  storage: PetStorage,
  request: ApiRequest,
  target: Target,
  writePage: ReturnType<typeof pageWriter>,
): MaybePromise<OwnResponse> {
  const query = parsePageQuery(target.query)
  const { limit, after, status } = query
  // One animal more than requested shows whether there is a next page.
  return andThen(storage.list({ limit: limit + 1, after, status }, request), (found) => {
    if (!Array.isArray(found)) throw new TypeError(`storage: expected an array from list, got ${describe(found)}`)
    const { text, headers } = writePage(query, found, target)
    return jsonResponse(200, text, headers)
  })
}

/** The options that apply to the body of createPet. */
export interface BodyRules {
  /** The largest body, in bytes. */
  readonly bodyLimit: number
  readonly newPet: ReturnType<typeof newPetSchema>
  readonly maxNameLength: number
  readonly defaultStatus: PetStatus | null
}

/**
 * `POST /pets`: adds one animal, or none if the idempotency key of the request has been used.
 *
 * @param linkBase - where `Location` begins; `undefined` after the removal of getPet
 * @param scope - whose idempotency keys apply
 */
export function createPet(
  storage: PetStorage,
  request: ApiRequest,
  { bodyLimit, newPet, maxNameLength, defaultStatus }: BodyRules,
  linkBase: string | undefined,
  scope: string,
): MaybePromise<OwnResponse> {
  const refusal = rejectOtherMediaTypes(request)
  if (refusal) return refusal
  const key = idempotencyKeyOf(request, storage)
  return andThen(request.body(bodyLimit), (bytes) => {
    const pet = withStatus(parseNewPet(newPet, readJson(bytes, MAX_VALUES), maxNameLength), defaultStatus)
    const creating: MaybePromise<CreatedPet> | undefined =
      key === undefined
        ? storage.create(pet, request)
        : storage.createOnce?.(pet, { scope, key, fingerprint: fingerprintOf(pet) }, request)
    return andThen(creating as MaybePromise<CreatedPet>, (created) => {
      const headers = key !== undefined && isReplay(created) ? ['Idempotency-Replayed', 'true'] : []
      const body = writePet(created)
      if (linkBase !== undefined) headers.push('Location', `${linkBase}/pets/${created.id}`)
      return jsonResponse(201, body, headers)
    })
  })
}

function withStatus({ status, ...others }: NewPet, defaultStatus: PetStatus | null): NewPet {
  const kept = status ?? defaultStatus
  return kept === null ? others : { ...others, status: kept }
}

/** `GET /pets/{petId}`, deprecated: returns one animal. */
export function getPet(storage: PetStorage, request: ApiRequest, petId: string): MaybePromise<OwnResponse> {
  const id = parseInt64(petId)
  if (id === undefined) return errorResponse('pet_not_found')
  return andThen(storage.get(id, request), (pet) =>
    pet == null ? errorResponse('pet_not_found') : jsonResponse(200, writePet(pet)),
  )
}
