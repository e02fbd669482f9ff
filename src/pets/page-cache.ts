import { LRUCache } from 'lru-cache'
import type { Pet } from '../model.ts'
import { writePets } from './json.ts'

/** The largest total length of the cached texts, in UTF-16 code units. */
const MAX_TEXT = 1_048_576

/** Writes one page of animals as JSON. */
export type WritePage = (pets: readonly Pet[]) => string

/**
 * Returns a function that writes pages as JSON, and caches the texts of recent pages.
 *
 * A page gets a cached text if it consists of the same frozen objects. Database storages create new objects for each page, so
 * the cache never has their texts.
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

/** Returns whether an animal is a frozen plain object. Other frozen objects may have getters whose values change. */
function isPlainAndFrozen(pet: Pet): boolean {
  return Object.isFrozen(pet) && Object.getPrototypeOf(pet) === Object.prototype
}
