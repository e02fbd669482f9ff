import type { ApiRequest } from '../http/request.ts'
import { errorResponse, jsonResponse, type OwnResponse } from '../http/response.ts'
import type { PetStorage } from '../ports.ts'
import { petId } from '../schemas/query.ts'
import { writePet } from './json.ts'

/**
 * `GET /pets/{petId}`, deprecated: returns one animal. An id that is no 64-bit integer has no
 * animal, so it gets 404.
 */
export async function getPet(storage: PetStorage, request: ApiRequest, idText: string): Promise<OwnResponse> {
  const id = petId.safeParse(idText)
  if (!id.success) return errorResponse('pet_not_found')
  const pet = await storage.get(id.data, request)
  return pet == null ? errorResponse('pet_not_found') : jsonResponse(200, writePet(pet))
}
