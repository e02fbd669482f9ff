import { LRUCache } from 'lru-cache'

/**
 * Creates a map that removes the least recently used entry when it is full. With the option `max` in place of `maxSize`, lru-cache
 * would allocate memory for all entries at once, which takes most of the time to create a pet store.
 */
export function boundedMap<Value extends object | string>(entries: number): LRUCache<string, Value> {
  return new LRUCache({ maxSize: entries, sizeCalculation: () => 1 })
}
