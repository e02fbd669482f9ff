/** Returns the bytes that are in use after a garbage collection, on the heap and outside it. */
export function heapBytes() {
  for (let i = 0; i < 3; i++) globalThis.gc()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/**
 * Returns the time of one call of each function in microseconds: the best of many rounds, because other programs can only slow a
 * round down. The functions take turns.
 */
export async function bestTimes(runs, calls, rounds = 40) {
  const best = runs.map(() => Infinity)
  for (let round = 0; round < rounds; round++) {
    for (const [i, run] of runs.entries()) {
      const startedAt = performance.now()
      for (let call = 0; call < calls; call++) await run()
      best[i] = Math.min(best[i], ((performance.now() - startedAt) * 1000) / calls)
    }
  }
  return best
}
