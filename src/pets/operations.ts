import { requireJson } from '../http/media-type.ts'
import type { ApiRequest } from '../http/request.ts'
import type { Target } from '../http/request-target.ts'
import type { ApiResponse } from '../http/response.ts'
import { errorReply, jsonReply } from '../http/response.ts'
import type { NewPet, PetStatus } from '../model.ts'
import type { MaybePromise, PetStorage } from '../ports.ts'
import { andThen } from '../support/maybe-promise.ts'
import { isInt64, readJson, writePet } from './json.ts'
import type { LinkBase } from './link.ts'
import { parsePageQuery } from './pagination.ts'
import { parseNewPet } from './schemas.ts'
import type { PageWriter } from './written-page.ts'

/** `GET /pets`: one page, and a Link to the next where there is one (RFC 8288). */
export function listPets(
  storage: PetStorage,
  request: ApiRequest,
  target: Target,
  linkBase: LinkBase,
  writePage: PageWriter,
): MaybePromise<ApiResponse> {
  target.page ??= parsePageQuery(target.query)
  const { limit, after, status } = target.page
  // One animal more than asked for tells whether there is a next page.
  return andThen(storage.list({ limit: limit + 1, after, status }, request), (found) => {
    const page = writePage(found, limit)
    return found.length > limit ? page.reply(target, linkBase) : jsonReply(200, page.body)
  })
}

/** `POST /pets`: adds one animal. */
export function createPet(
  storage: PetStorage,
  request: ApiRequest,
  bodyLimit: number,
  defaultStatus: PetStatus | null,
): MaybePromise<ApiResponse> {
  requireJson(request)
  return andThen(request.body(bodyLimit), (bytes) => {
    const pet = withStatus(parseNewPet(readJson(bytes)), defaultStatus)
    return andThen(storage.create(pet, request), (created) => jsonReply(201, writePet(created)))
  })
}

function withStatus(pet: NewPet, defaultStatus: PetStatus | null): NewPet {
  return pet.status === undefined && defaultStatus !== null
    ? { name: pet.name, categoryId: pet.categoryId, status: defaultStatus }
    : pet
}

/** `GET /pets/{petId}`, deprecated: reads one animal. */
export function getPet(storage: PetStorage, request: ApiRequest, petId: string): MaybePromise<ApiResponse> {
  const id = parsePetId(petId)
  if (id === undefined) return errorReply('pet_not_found')
  return andThen(storage.get(id, request), (pet) =>
    pet == null ? errorReply('pet_not_found') : jsonReply(200, writePet(pet)),
  )
}

/** A canonical decimal int64; `undefined` for any other text, which names no animal. */
function parsePetId(text: string): bigint | undefined {
  if (!/^(?:0|-?[1-9]\d{0,18})$/.test(text)) return undefined
  const id = BigInt(text)
  return isInt64(id) ? id : undefined
}
