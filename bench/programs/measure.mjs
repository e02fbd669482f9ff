/** Returns the bytes that are in use after a garbage collection, on the heap and beside it. */
export function heapBytes() {
  for (let i = 0; i < 3; i++) globalThis.gc()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** Returns the time of one call in microseconds: the best of many rounds, because other programs can only slow a round down. */
export function bestTime(run, calls, rounds = 30) {
  let best = Infinity
  for (let round = 0; round < rounds; round++) {
    const startedAt = performance.now()
    for (let i = 0; i < calls; i++) run(i)
    best = Math.min(best, performance.now() - startedAt)
  }
  return (best * 1000) / calls
}
