import { LRUCache } from 'lru-cache'
import type { Pet } from '../model.ts'
import { writePets } from './json.ts'

/** How much text the cache keeps, in UTF-16 code units. */
const MAX_TEXT = 1_048_576

/** Writes one page of animals as JSON. */
export type WritePage = (pets: readonly Pet[]) => string

/**
 * Returns a function that writes pages, and remembers the texts of recent ones.
 *
 * A page has the same text if it has the same frozen animals. Storages that read each animal anew, as databases do, get no
 * text from here.
 */
export function pageCache(): WritePage {
  const texts = new LRUCache<Pet, { readonly pets: readonly Pet[]; readonly text: string }>({
    maxSize: MAX_TEXT,
    sizeCalculation: ({ text }) => text.length,
  })
  return (pets) => {
    const last = pets.at(-1)
    const known = last && texts.get(last)
    if (known && hasSameItems(known.pets, pets)) return known.text
    const text = writePets(pets)
    if (last && pets.every(isPlainAndFrozen)) texts.set(last, { pets, text })
    return text
  }
}

function hasSameItems(known: readonly Pet[], pets: readonly Pet[]): boolean {
  return known.length === pets.length && known.every((pet, i) => pet === pets[i])
}

/** The members of other frozen objects may be getters whose values change. */
function isPlainAndFrozen(pet: Pet): boolean {
  return Object.isFrozen(pet) && Object.getPrototypeOf(pet) === Object.prototype
}
