import type * as z from 'zod/mini'
import type { Pet } from '../../../src/index.ts'
import { problemText } from '../../../src/schemas/expected.ts'
import { hostPetSchemas } from '../../../src/schemas/host-pets.ts'
import { initialPets, type ParsedInitialPet } from '../../../src/schemas/pet.ts'
import { innermostMessage } from '../../../src/support/describe-value.ts'
import { formatOf, type PetsFormat, readEntries } from './files.ts'

/** A file with animals, and whether their ids are used. */
export interface Source {
  readonly path: string
  /** The name for messages. */
  readonly name: string
  readonly format: PetsFormat
  readonly ids: 'required' | 'optional' | 'ignored'
}

/** An animal of a file with its place, or what is wrong with it. */
export type Parsed =
  | { readonly place: string; readonly pet: ParsedInitialPet; readonly problem?: undefined }
  | { readonly place: string; readonly pet?: undefined; readonly problem: string }

const schemas = {
  required: hostPetSchemas({}).restored,
  optional: initialPets,
  ignored: initialPets,
} satisfies Record<Source['ids'], z.ZodMiniType<readonly ParsedInitialPet[]>>

/** Reads all animals of a file. Throws if the file as a whole cannot be read. */
export async function* animalsOf({ path, name, format, ids }: Source): AsyncGenerator<Parsed, void> {
  try {
    for await (const entry of readEntries(path, format)) {
      if (entry.problem !== undefined) yield entry
      else
        yield { place: entry.place, ...parse(schemas[ids], ids === 'ignored' ? withoutId(entry.value) : entry.value) }
    }
  } catch (error) {
    throw new Error(`${name}: ${innermostMessage(error)}`)
  }
}

/** Reads all animals of a file for a store in memory. Throws for the first one that is wrong. */
export async function readPets(path: string): Promise<readonly ParsedInitialPet[]> {
  const pets: ParsedInitialPet[] = []
  const source = { path, name: path, format: formatOf(path, undefined), ids: 'optional' } as const
  for await (const { place, pet, problem } of animalsOf(source)) {
    if (problem !== undefined) throw new Error(`${path}, ${place}: ${problem}`)
    pets.push(pet)
  }
  return pets
}

function withoutId(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const { id: _, ...members } = value as Partial<Pet>
  return members
}

/** Checks one animal by the schema of a list. */
function parse(schema: z.ZodMiniType<readonly ParsedInitialPet[]>, value: unknown) {
  const result = schema.safeParse([value])
  if (result.success) return { pet: result.data[0] as ParsedInitialPet }
  const text = problemText(result.error)
    .replaceAll(/\[0\]\.?/g, '')
    .replace(/^: /, '')
    // A file has no bigint.
    .replaceAll(', above 2^53-1 as a bigint such as 7n', '')
  return { problem: text }
}
