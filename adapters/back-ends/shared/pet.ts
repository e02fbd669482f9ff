import type { NewPet, Pet } from '../../../src/index.ts'

/** Leaves out a status that is `undefined`, and so has the members in the same order for all animals. */
export function petOf(id: bigint, { name, categoryId, status }: NewPet): Pet {
  const complete = { id, name, categoryId, status } satisfies Record<keyof Pet, unknown>
  return status === undefined ? { id, name, categoryId } : complete
}
