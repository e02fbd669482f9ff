import { LRUCache } from 'lru-cache'

/**
 * Creates a map that removes the least recently used entry when it is full. With the option `max`
 * instead of `maxSize`, lru-cache would first allocate memory for all entries. Creating a pet
 * store would then take more than 100 times as long.
 */
export function boundedMap<Value extends object | string>(entries: number): LRUCache<string, Value> {
  return new LRUCache({ maxSize: entries, sizeCalculation: () => 1 })
}
