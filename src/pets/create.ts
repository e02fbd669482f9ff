import { mediaTypeError } from '../http/media-type.ts'
import type { ApiRequest } from '../http/request.ts'
import { jsonResponse, type OwnResponse, unavailable } from '../http/response.ts'
import { type Pet, petOf } from '../model.ts'
import type { CallContext, PetStorage } from '../ports.ts'
import type { NewPetSchema } from '../schemas/pet.ts'
import { parseBody } from './body.ts'
import { fingerprintOf, idempotencyKeyOf, isReplay } from './idempotency.ts'
import { writePet } from './json.ts'

interface BodyRules {
  readonly readOnly: boolean
  readonly bodyLimit: number
  readonly newPet: NewPetSchema
}

interface Creation {
  /** Whose idempotency keys the request may repeat. */
  readonly scope: string
  /** The first part of `Location`. If `undefined`, as after the removal of getPet, it is left out. */
  readonly linkBase: string | undefined
  readonly call: CallContext
  /** Called with the animal that this request has added. */
  readonly onCreated: (pet: Pet) => void
}

const READ_ONLY = 'The store is read-only for a while: send the request again later.'

/**
 * `POST /pets`: adds one animal, or none if the client with this `scope` has used the idempotency
 * key before.
 */
export async function createPet(
  storage: PetStorage,
  request: ApiRequest,
  { readOnly, bodyLimit, newPet }: BodyRules,
  { scope, linkBase, call, onCreated }: Creation,
): Promise<OwnResponse> {
  if (readOnly) return unavailable(READ_ONLY)
  const error = mediaTypeError(request)
  if (error) return error
  const key = idempotencyKeyOf(request)
  const { pet, asSent } = parseBody(await request.body(bodyLimit), newPet)
  const idempotency = key === undefined ? undefined : { scope, key, fingerprint: fingerprintOf(asSent) }
  const created = await storage.create(pet, { idempotency }, call)
  const isRepeated = idempotency !== undefined && isReplay(created)
  const headers = isRepeated ? ['Idempotency-Replayed', 'true'] : []
  const body = writePet(created)
  if (!isRepeated) onCreated(petOf(created.id, created))
  if (linkBase !== undefined) headers.push('Location', `${linkBase}/pets/${created.id}`)
  return jsonResponse(201, body, headers)
}
