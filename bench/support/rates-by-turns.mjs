import { shuffled } from './statistics.mjs'

/** Measures asynchronous functions one after another, in a new random order each round. Returns the calls per second of each. */
export async function ratesByTurns(contestants, { concurrency, count, rounds, warmUps = 2 }) {
  const rates = Object.fromEntries(Object.keys(contestants).map((name) => [name, []]))
  for (let round = -warmUps; round < rounds; round++) {
    for (const [name, run] of shuffled(Object.entries(contestants))) {
      const started = performance.now()
      let left = count
      const worker = async () => {
        while (left-- > 0) await run()
      }
      await Promise.all(Array.from({ length: concurrency }, worker))
      if (round >= 0) rates[name].push((count * 1_000) / (performance.now() - started))
    }
  }
  return rates
}
