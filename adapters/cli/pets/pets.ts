import { isPetStoreError } from '../../../src/errors.ts'
import { createPetStore, type Pet, type PetChanges, type PetStatus, type Pets } from '../../../src/index.ts'
import { writePet, writePets } from '../../../src/pets/json.ts'
import { escapeHidden } from '../../../src/support/readable-text.ts'
import { withDatabase } from '../engines/back-end.ts'
import { requireFile } from '../engines/sqlite-file.ts'
import type { DatabaseFlags } from '../terminal/flags.ts'
import { print, printLines, tableLines } from '../terminal/output.ts'

interface OutputFlags extends DatabaseFlags {
  readonly json?: true
}

interface MemberFlags extends OutputFlags {
  readonly name?: string
  readonly categoryId?: bigint
  readonly status?: PetStatus
}

interface ConditionFlags extends OutputFlags {
  readonly ifStatus?: PetStatus
}

interface FilterFlags extends OutputFlags {
  readonly status?: PetStatus
}

interface ListFlags extends FilterFlags {
  readonly after?: bigint
  readonly limit: number
}

/** Calls `use` with the animals of a database, and closes it. Errors name the database. */
export function withPets<T>(database: DatabaseFlags, use: (pets: Pets, name: string) => Promise<T>): Promise<T> {
  return withDatabase(database, ({ storage, keyStore, quota, name }) =>
    use(createPetStore({ storage, keyStore, quota }).pets, name),
  )
}

/** As {@link withPets}, but does not create the file of a mistyped name. */
export async function withExistingPets<T>(
  database: DatabaseFlags,
  use: (pets: Pets, name: string) => Promise<T>,
): Promise<T> {
  if (database.data !== undefined) requireFile(database.data)
  return withPets(database, use)
}

export async function runPetsList({ json, status, after, limit, ...database }: ListFlags): Promise<void> {
  const found = await withExistingPets(database, (pets) => pets.list({ status, after, limit }))
  if (json) await print(escapeHidden(writePets(found)))
  else if (found.length === 0) await print('No animals were found.')
  else await printLines(tableOf(found))
  const last = found.at(-1)
  if (last !== undefined && found.length === limit)
    console.error(`There may be more: petstore pets list --after ${last.id}`)
}

export async function runPetsGet(id: bigint, { json, ...database }: OutputFlags): Promise<void> {
  const pet = await withExistingPets(database, (pets) => pets.get(id))
  if (pet === undefined) throw unknownPet(id)
  await printPet(pet, json)
}

type AddFlags = MemberFlags & Required<Pick<MemberFlags, 'name' | 'categoryId'>>

export async function runPetsAdd({ json, name, categoryId, status, ...database }: AddFlags): Promise<void> {
  await printPet(await withPets(database, (pets) => pets.add({ name, categoryId, status })), json)
}

export async function runPetsUpdate(id: bigint, flags: MemberFlags & ConditionFlags): Promise<void> {
  const { json, name, categoryId, status, ifStatus, ...database } = flags
  const changes: PetChanges = { name, categoryId, status }
  if (Object.values(changes).every((value) => value === undefined))
    throw new Error('expected a change, such as --status sold')
  const update = (pets: Pets) => pets.update(id, changes, conditionOf(ifStatus))
  await printPet(await explained(id, ifStatus, () => withExistingPets(database, update)), json)
}

export async function runPetsRemove(id: bigint, { json, ifStatus, ...database }: ConditionFlags): Promise<void> {
  const remove = (pets: Pets) => pets.remove(id, conditionOf(ifStatus))
  await printPet(await explained(id, ifStatus, () => withExistingPets(database, remove)), json)
}

export async function runPetsCount({ json, status, ...database }: FilterFlags): Promise<void> {
  const count = await withExistingPets(database, (pets) => pets.count({ status }))
  await print(json ? JSON.stringify({ count }) : String(count))
}

function conditionOf(status: PetStatus | undefined) {
  return status === undefined ? {} : { if: { status } }
}

/** Replaces the error about a missing animal or a failed condition by one in the words of the command. */
async function explained<T>(id: bigint, wanted: PetStatus | undefined, change: () => Promise<T>): Promise<T> {
  try {
    return await change()
  } catch (error) {
    if (isPetStoreError(error) && error.code === 'pet_not_found') throw unknownPet(id)
    if (isPetStoreError(error) && error.code === 'condition_failed')
      throw new Error(`--if-status: the animal ${id} is ${error.pet?.status}, not ${wanted}, so nothing was changed`)
    throw error
  }
}

function unknownPet(id: bigint): Error {
  return new Error(`there is no animal with the id ${id}`)
}

async function printPet(pet: Pet, json: true | undefined): Promise<void> {
  if (json) await print(escapeHidden(writePet(pet)))
  else await printLines(tableOf([pet]))
}

const HEADINGS = ['ID', 'STATUS', 'CATEGORY', 'NAME']

function tableOf(pets: readonly Pet[]): AsyncIterable<string> {
  return tableLines(HEADINGS, pets, ({ id, status, categoryId, name }) => [`${id}`, status, `${categoryId}`, name])
}
