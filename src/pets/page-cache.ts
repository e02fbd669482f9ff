import { LRUCache } from 'lru-cache'
import type { Pet } from '../model.ts'
import { encodeCursor } from './cursor.ts'
import { writePets } from './json.ts'

/** The largest total length of the cached texts, in UTF-16 code units. */
const MAX_TEXT = 1_048_576

/** A page of animals as JSON. */
export interface WrittenPage {
  readonly text: string
  /** The cursor of the next page; `undefined` if this page is empty. */
  readonly nextCursor: string | undefined
}

/** Writes one page of animals as JSON. */
export type WritePage = (pets: readonly Pet[]) => WrittenPage

/**
 * Returns a function that writes pages as JSON, and caches the texts of recent pages.
 *
 * A page gets a cached text if it consists of the same frozen objects. Database storages create new objects for each page, so
 * the cache never has their texts.
 */
export function pageCache(): WritePage {
  const cached = new LRUCache<Pet, WrittenPage & { readonly pets: readonly Pet[] }>({
    maxSize: MAX_TEXT,
    sizeCalculation: ({ text }) => text.length,
  })
  return (pets) => {
    const last = pets.at(-1)
    const known = last && cached.get(last)
    if (known && hasSameItems(known.pets, pets)) return known
    const page = { pets, text: writePets(pets), nextCursor: last && encodeCursor(last.id) }
    if (last && pets.every(isPlainAndFrozen)) cached.set(last, page)
    return page
  }
}

function hasSameItems(known: readonly Pet[], pets: readonly Pet[]): boolean {
  return known.length === pets.length && known.every((pet, i) => pet === pets[i])
}

/** Returns whether an animal is a frozen plain object. Other frozen objects may have getters whose values change. */
function isPlainAndFrozen(pet: Pet): boolean {
  return Object.isFrozen(pet) && Object.getPrototypeOf(pet) === Object.prototype
}
