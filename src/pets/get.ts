import type { ApiRequest } from '../http/request.ts'
import { errorResponse, jsonResponse, type OwnResponse } from '../http/response.ts'
import type { MaybePromise, PetStorage } from '../ports.ts'
import { petId } from '../schemas/pet.ts'
import { andThen } from '../support/maybe-promise.ts'
import { writePet } from './json/write.ts'

/** `GET /pets/{petId}`, deprecated: returns one animal. */
export function getPet(storage: PetStorage, request: ApiRequest, idText: string): MaybePromise<OwnResponse> {
  const id = petId.safeParse(idText)
  if (!id.success) return errorResponse('pet_not_found')
  return andThen(storage.get(id.data, request), (pet) =>
    pet == null ? errorResponse('pet_not_found') : jsonResponse(200, writePet(pet)),
  )
}

/** Whether getPet stops working on 5 December 2030 (`enforce`), or only announces its removal (`announce`). */
export type SunsetPolicy = 'enforce' | 'announce'

/** When getPet was deprecated: 5 December 2025, in Unix seconds (RFC 9745, section 2.1). */
export const DEPRECATION = '@1764892800'
/** When getPet is removed: 5 December 2030, in milliseconds since the Unix epoch. */
export const SUNSET_AT = Date.UTC(2030, 11, 5)
export const SUNSET = new Date(SUNSET_AT).toUTCString()

export function isRemoved(now: number, policy: SunsetPolicy): boolean {
  return policy === 'enforce' && now >= SUNSET_AT
}

/** Adds the headers that every response of getPet has: RFC 9745, RFC 8594, and the link relation of RFC 5829. */
export function addDeprecationHeaders(headers: string[], successor: string): void {
  headers.push('Deprecation', DEPRECATION, 'Sunset', SUNSET, 'Link', `<${successor}>; rel="successor-version"`)
}
