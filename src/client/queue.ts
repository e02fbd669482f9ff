/** Calls in the order in which they were made. Any of them can be removed. */
export interface Queue<Item> {
  readonly size: number
  /** Adds an item at the end. Returns its number, which `remove` expects. */
  add(item: Item): number
  /** Removes an item. Returns false if it was removed before. */
  remove(number: number): boolean
  /** Returns the first item with its number; `undefined` if the queue is empty. */
  first(): readonly [number: number, item: Item] | undefined
  /** Returns all items with their numbers. Items may be removed during the iteration. */
  entries(): Iterable<[number: number, item: Item]>
}

/**
 * Creates a queue whose every operation takes constant time on average. The first entry of a `Map`
 * would not do: after many removals, V8 skips the removed entries again at the start of each
 * iteration, so that emptying the queue takes quadratic time.
 */
export function createQueue<Item>(): Queue<Item> {
  const items = new Map<number, Item>()
  let front = 0
  let end = 0
  return {
    get size() {
      return items.size
    },
    add(item) {
      items.set(end, item)
      return end++
    },
    remove: (number) => items.delete(number),
    first() {
      while (front < end && !items.has(front)) front++
      const item = items.get(front)
      return item === undefined ? undefined : [front, item]
    },
    entries: () => items.entries(),
  }
}
