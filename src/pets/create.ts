import { mediaTypeError } from '../http/media-type.ts'
import type { ApiRequest } from '../http/request.ts'
import { jsonResponse, type OwnResponse, unavailable } from '../http/response.ts'
import type { PetStorage } from '../ports.ts'
import type { NewPetSchema } from '../schemas/pet.ts'
import { parseBody } from './body.ts'
import { fingerprintOf, idempotencyKeyOf, isReplay } from './idempotency.ts'
import { writePet } from './json.ts'

interface BodyRules {
  readonly readOnly: boolean
  readonly bodyLimit: number
  readonly newPet: NewPetSchema
}

const READ_ONLY = 'The store is read-only for a while: send the request again later.'

/**
 * `POST /pets`: adds one animal, or none if the client with this `scope` has used the idempotency
 * key before.
 * @param linkBase - the first part of `Location`; if `undefined`, as after the removal of getPet,
 * `Location` is left out
 */
export async function createPet(
  storage: PetStorage,
  request: ApiRequest,
  { readOnly, bodyLimit, newPet }: BodyRules,
  linkBase: string | undefined,
  scope: string,
): Promise<OwnResponse> {
  if (readOnly) return unavailable(READ_ONLY)
  const error = mediaTypeError(request)
  if (error) return error
  const key = idempotencyKeyOf(request)
  const { pet, asSent } = parseBody(await request.body(bodyLimit), newPet)
  const idempotency = key === undefined ? undefined : { scope, key, fingerprint: fingerprintOf(asSent) }
  const created = await storage.create(pet, { idempotency }, request)
  const headers = idempotency !== undefined && isReplay(created) ? ['Idempotency-Replayed', 'true'] : []
  const body = writePet(created)
  if (linkBase !== undefined) headers.push('Location', `${linkBase}/pets/${created.id}`)
  return jsonResponse(201, body, headers)
}
