import type { Pet } from '../model.ts'
import { firstIndex } from './first-index.ts'

/** Returns the position of the first animal with an id above `after`, in a list by ascending ids. */
export function positionAfter(pets: readonly Pet[], after: bigint): number {
  if (after < 1n) return 0
  // Without removals, the animal 7 is the seventh one. Then no search is needed.
  const guess = Number(after)
  if (pets[guess - 1]?.id === after) return guess
  return firstIndex(pets, ({ id }) => id > after)
}

export function petWithId(pets: readonly Pet[], id: bigint): Pet | undefined {
  const pet = pets[positionAfter(pets, id) - 1]
  return pet?.id === id ? pet : undefined
}

/** Puts an animal into a list by ascending ids, in the place of the animal with the same id, if there is one. */
export function putPet(pets: Pet[], pet: Pet): void {
  const position = positionAfter(pets, pet.id)
  if (pets[position - 1]?.id === pet.id) pets[position - 1] = pet
  else pets.splice(position, 0, pet)
}

/** Removes the animal with this id from a list by ascending ids, if the list has it. */
export function takePet(pets: Pet[], id: bigint): void {
  const position = positionAfter(pets, id) - 1
  if (pets[position]?.id === id) pets.splice(position, 1)
}
