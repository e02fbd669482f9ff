import { PetStoreError } from './errors.ts'
import type { ApiRequest, ApiResponse } from './exchange.ts'
import { isInt64, readJson, writePet, writePets } from './json.ts'
import { requireJson } from './media-type.ts'
import type { NewPet, Pet, PetStatus } from './model.ts'
import { nextQuery, parsePageQuery } from './page.ts'
import type { PetStorage } from './ports.ts'
import { parseNewPet } from './schema.ts'

const JSON_HEADERS = ['Content-Type', 'application/json']

/** `GET /pets`: one page, and a Link to the next where there is one (RFC 8288). */
export async function listPets(
  storage: PetStorage,
  request: ApiRequest,
  query: string,
  address: string,
): Promise<ApiResponse> {
  const page = parsePageQuery(query)
  // One animal more than asked for tells whether there is a next page.
  const found = await storage.list({ ...page, limit: page.limit + 1 }, request)
  if (found.length <= page.limit) return json(200, writePets(found))
  const pets = found.slice(0, page.limit)
  const last = pets[pets.length - 1] as Pet
  const next = `<${address}?${nextQuery(query, last.id)}>; rel="next"`
  return { status: 200, headers: [...JSON_HEADERS, 'Link', next], body: writePets(pets) }
}

/** `POST /pets`: adds one animal. */
export async function createPet(
  storage: PetStorage,
  request: ApiRequest,
  bodyLimit: number,
  defaultStatus: PetStatus | null,
): Promise<ApiResponse> {
  requireJson(request)
  const pet = withStatus(parseNewPet(readJson(await request.body(bodyLimit))), defaultStatus)
  return json(201, writePet(await storage.create(pet, request)))
}

function withStatus(pet: NewPet, defaultStatus: PetStatus | null): NewPet {
  return pet.status === undefined && defaultStatus !== null ? { ...pet, status: defaultStatus } : pet
}

/** `GET /pets/{petId}`, deprecated: reads one animal. */
export async function getPet(storage: PetStorage, request: ApiRequest, petId: string): Promise<ApiResponse> {
  const id = parsePetId(petId)
  const pet = id === undefined ? undefined : await storage.get(id, request)
  if (pet === undefined) throw new PetStoreError('pet_not_found')
  return json(200, writePet(pet))
}

/** A canonical decimal int64; `undefined` for any other text, which names no animal. */
export function parsePetId(text: string): bigint | undefined {
  if (!/^(?:0|-?[1-9]\d{0,18})$/.test(text)) return undefined
  const id = BigInt(text)
  return isInt64(id) ? id : undefined
}

function json(status: number, body: string): ApiResponse {
  return { status, headers: JSON_HEADERS, body }
}
