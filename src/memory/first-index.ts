/**
 * Returns the position of the first item that matches, in a list in which all items after it match too. If none matches,
 * returns the length of the list.
 */
export function firstIndex<T>(items: readonly T[], matches: (item: T) => boolean): number {
  let low = 0
  let high = items.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (matches(items[middle] as T)) high = middle
    else low = middle + 1
  }
  return low
}
