import { load, requestText } from './load.mjs'
import { pin, processorTime, withServers } from './processes.mjs'

/** The middle one. */
export const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]
/** In another order each time. */
export const shuffled = (list) =>
  list
    .map((item) => [Math.random(), item])
    .sort(([a], [b]) => a - b)
    .map(([, item]) => item)

/** What must be the same before anything is timed: the animals of a list, or the one that was created. */
async function answerOf({ port, token }, kind) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const body = requestText(kind, token).split('\r\n\r\n')[1]
  const init = kind === 'list' ? { headers } : { method: 'POST', headers, body }
  const animals = [await (await fetch(`http://127.0.0.1:${port}/v1/pets`, init)).json()].flat()
  return JSON.stringify(animals.map(({ id, name, categoryId, status }) => [id, name, categoryId, status]))
}

/**
 * Compares servers side by side with the first of them: short bursts by turns, so that what slows the machine down for a
 * while slows all of them. Prints each one's rate, the median of its ratios to the first in the same round, and its
 * processor time per request.
 */
export function compare(title, kind, servers, { alike = true, count = 4_000, rounds = 25, connections = 32 } = {}) {
  pin(process.pid, 1)
  return withServers(servers, async (running) => {
    if (alike && new Set(await Promise.all(running.map((one) => answerOf(one, kind)))).size > 1)
      throw new Error(`${title}: the servers do not answer alike`)
    const samples = new Map(running.map(({ name }) => [name, []]))
    for (const { port, token } of running) await load(port, requestText(kind, token), 40_000, connections)
    for (let round = 0; round < rounds; round++) {
      for (const { name, child, port, token } of shuffled(running)) {
        const before = await processorTime(child)
        const seconds = await load(port, requestText(kind, token), count, connections)
        samples.get(name).push({ rate: count / seconds, cost: ((await processorTime(child)) - before) / count })
      }
    }
    print(title, samples)
  })
}

function print(title, samples) {
  const [[first, base]] = samples
  console.log(`\n${title}: requests per second, of ${first}, processor time per request`)
  for (const [name, list] of samples) {
    const ratio = median(list.map(({ rate }, round) => rate / base[round].rate))
    const rate = median(list.map((sample) => sample.rate))
    const cost = median(list.map((sample) => sample.cost))
    console.log(`  ${name.padEnd(24)} ${rate.toFixed(0).padStart(7)}  ${ratio.toFixed(2)}  ${cost.toFixed(1)} us`)
  }
}
