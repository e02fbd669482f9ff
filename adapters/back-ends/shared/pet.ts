import type { NewPet, Pet } from '../../../src/index.ts'

/** Leaves out a status that is `undefined`. The members of all animals have the same order. */
export function petOf(id: bigint, { name, categoryId, status }: NewPet): Pet {
  const complete = { id, name, categoryId, status } satisfies Record<keyof Pet, unknown>
  return status === undefined ? { id, name, categoryId } : complete
}
