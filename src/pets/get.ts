import { errorResponse, jsonResponse, type OwnResponse } from '../http/response.ts'
import type { CallContext, PetStorage } from '../ports.ts'
import { petId } from '../schemas/query.ts'
import { writePet } from './json.ts'

/**
 * `GET /pets/{petId}`, deprecated: returns one animal. An id that is no 64-bit integer has no
 * animal, so it gets 404.
 */
export async function getPet(storage: PetStorage, idText: string, call: CallContext): Promise<OwnResponse> {
  const id = petId.safeParse(idText)
  if (!id.success) return errorResponse('pet_not_found')
  const pet = await storage.get(id.data, call)
  return pet == null ? errorResponse('pet_not_found') : jsonResponse(200, writePet(pet))
}
