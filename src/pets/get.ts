import type { ApiRequest } from '../http/request.ts'
import { errorResponse, jsonResponse, type OwnResponse } from '../http/response.ts'
import type { MaybePromise, PetStorage } from '../ports.ts'
import { petId } from '../schemas/query.ts'
import { andThen } from '../support/maybe-promise.ts'
import { writePet } from './json.ts'

/** `GET /pets/{petId}`, deprecated: returns one animal. */
export function getPet(storage: PetStorage, request: ApiRequest, idText: string): MaybePromise<OwnResponse> {
  const id = petId.safeParse(idText)
  if (!id.success) return errorResponse('pet_not_found')
  return andThen(storage.get(id.data, request), (pet) =>
    pet == null ? errorResponse('pet_not_found') : jsonResponse(200, writePet(pet)),
  )
}
