import { LRUCache } from 'lru-cache'

/**
 * Creates a map with at most this many entries. The map removes the least recently used entry first.
 *
 * Uses the option `maxSize` of lru-cache, with size 1 for each entry. With `max`, lru-cache allocates room for all entries at once,
 * which would take most of the time to create a pet store.
 */
export function boundedMap<Value extends object | string>(entries: number): LRUCache<string, Value> {
  return new LRUCache({ maxSize: entries, sizeCalculation: () => 1 })
}
