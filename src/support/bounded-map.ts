import { LRUCache } from 'lru-cache'

/**
 * A map that keeps the entries used last.
 *
 * It is bounded by size, each entry counting as one: bounded by number, the cache would set aside room for all of them at
 * once, and that is most of the time that a store takes to start.
 */
export function boundedMap<Value extends object | string>(entries: number): LRUCache<string, Value> {
  return new LRUCache({ maxSize: entries, sizeCalculation: () => 1 })
}
