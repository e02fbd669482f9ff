/** How many calls run at the same time. */
const AT_ONCE = 100

/** Calls `use` for each item, for several at the same time, and waits until all calls have ended. */
export async function inBatches<T>(
  items: Iterable<T> | AsyncIterable<T>,
  use: (item: T) => Promise<unknown>,
): Promise<void> {
  let batch: T[] = []
  const flush = async () => {
    // All calls of a batch end before the database is closed.
    const results = await Promise.allSettled(batch.map(use))
    batch = []
    for (const result of results) if (result.status === 'rejected') throw result.reason
  }
  for await (const item of items) {
    batch.push(item)
    if (batch.length === AT_ONCE) await flush()
  }
  await flush()
}
