import { shuffled } from './statistics.mjs'

/** Runs asynchronous functions by turns in this process, in another order each round. Returns the rates per second of each. */
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
