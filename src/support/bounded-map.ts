import { LRUCache } from 'lru-cache'

/**
 * Creates a map that keeps the most recently used entries.
 *
 * It is bounded by size, and each entry has the size 1. With `max`, lru-cache allocates room for all entries at once, which
 * would be most of the start-up time of a store.
 */
export function boundedMap<Value extends object | string>(entries: number): LRUCache<string, Value> {
  return new LRUCache({ maxSize: entries, sizeCalculation: () => 1 })
}
