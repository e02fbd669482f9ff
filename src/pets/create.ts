import { PetStoreError } from '../errors.ts'
import { mediaTypeError } from '../http/media-type.ts'
import type { ApiRequest } from '../http/request.ts'
import { jsonResponse, type OwnResponse } from '../http/response.ts'
import type { NewPet, PetMembers } from '../model.ts'
import type { PetStorage } from '../ports.ts'
import { problemText } from '../schemas/expected.ts'
import type { NewPetSchema } from '../schemas/pet.ts'
import { JsonNumber } from '../support/describe-value.ts'
import { fingerprintOf, idempotencyKeyOf, replayHeaders } from './idempotency.ts'
import { readJson, writePet } from './json.ts'

/**
 * The largest number of values in a body, counting those in inner arrays and objects. Reading many
 * short values takes long.
 */
const MAX_VALUES = 2_000

interface BodyRules {
  readonly bodyLimit: number
  readonly newPet: NewPetSchema
}

/**
 * `POST /pets`: adds one animal, or none if the client with this `scope` has used the idempotency
 * key before.
 * @param linkBase - the first part of `Location`; if `undefined`, as after the removal of getPet,
 * `Location` is left out
 */
export async function createPet(
  storage: PetStorage,
  request: ApiRequest,
  { bodyLimit, newPet }: BodyRules,
  linkBase: string | undefined,
  scope: string,
): Promise<OwnResponse> {
  const error = mediaTypeError(request)
  if (error) return error
  const key = idempotencyKeyOf(request)
  const sent = readJson(await request.body(bodyLimit), MAX_VALUES)
  const pet = parseNewPet(newPet, sent)
  const idempotency = key === undefined ? undefined : { scope, key, fingerprint: fingerprintOf(asSent(pet, sent)) }
  const created = await storage.create(pet, { idempotency }, request)
  const headers = idempotency === undefined ? [] : replayHeaders(created)
  const body = writePet(created)
  if (linkBase !== undefined) headers.push('Location', `${linkBase}/pets/${created.id}`)
  return jsonResponse(201, body, headers)
}

/** Returns an animal as the client has sent it: without the default of `status`. */
function asSent(pet: PetMembers, body: unknown): NewPet {
  return Object.hasOwn(body as object, 'status') ? pet : { ...pet, status: undefined }
}

/**
 * @throws {PetStoreError} `invalid_body`, with each wrong field, what was expected and what was
 * received
 */
export function parseNewPet(schema: NewPetSchema, body: unknown): PetMembers {
  const parsed = schema.safeParse(ownMembers(body))
  if (parsed.success) return parsed.data
  throw new PetStoreError('invalid_body', `The body is not a valid animal: ${problemText(parsed.error)}.`)
}

/**
 * Copies an object without its prototype: otherwise, a polluted `Object.prototype` would add
 * members to every body.
 */
function ownMembers(body: unknown): unknown {
  if (body instanceof JsonNumber) return Number(body.text)
  const isRecord = typeof body === 'object' && body !== null && !Array.isArray(body)
  return isRecord ? { __proto__: null, ...body } : body
}
