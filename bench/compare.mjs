import { load, requestText } from './load.mjs'
import { pin, processorTime, withServers } from './processes.mjs'

/** Returns the median. */
export const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]
/** Returns a list in random order. */
export const shuffled = (list) =>
  list
    .map((item) => [Math.random(), item])
    .sort(([a], [b]) => a - b)
    .map(([, item]) => item)

/** Returns the animals in the response of a server. Before anything is timed, they must be the same for all servers. */
async function responseOf({ port, token }, kind) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const body = requestText(kind, token).split('\r\n\r\n')[1]
  const init = kind === 'list' ? { headers } : { method: 'POST', headers, body }
  const animals = [await (await fetch(`http://127.0.0.1:${port}/v1/pets`, init)).json()].flat()
  return JSON.stringify(animals.map(({ id, name, categoryId, status }) => [id, name, categoryId, status]))
}

/**
 * Compares each server with the first server. Short bursts alternate, so that a slow moment of the machine affects all servers.
 * Each server runs in several processes, because the same code is faster in one process than in another. Prints the rate and the
 * processor time per request. Also prints the median of the ratios to the first server in the same round, with the lowest and
 * highest ratio of a process.
 */
export async function compare(title, kind, servers, { processes = 5, ...options } = {}) {
  pin(process.pid, 1)
  const samples = new Map(servers.map(({ name }) => [name, []]))
  for (let i = 0; i < processes; i++) {
    const measured = await withServers(servers, (running) => measure(title, kind, running, options))
    for (const [name, rounds] of measured) samples.get(name).push(rounds)
  }
  print(title, samples)
}

/** Measures all rounds with one process for each server. */
async function measure(title, kind, running, { alike = true, count = 4_000, rounds = 9, connections = 32 }) {
  if (alike && new Set(await Promise.all(running.map((one) => responseOf(one, kind)))).size > 1)
    throw new Error(`${title}: the servers respond differently`)
  const samples = new Map(running.map(({ name }) => [name, []]))
  for (const { port, token } of running) await load(port, requestText(kind, token), 40_000, connections)
  for (let round = 0; round < rounds; round++) {
    for (const { name, child, port, token } of shuffled(running)) {
      const before = await processorTime(child)
      const seconds = await load(port, requestText(kind, token), count, connections)
      const rate = count / seconds
      samples.get(name).push({ rate, cost: ((await processorTime(child)) - before) / count })
    }
  }
  const [base] = samples.values()
  for (const list of samples.values())
    for (const [round, one] of list.entries()) one.ratio = one.rate / base[round].rate
  return samples
}

function print(title, samples) {
  const [first] = samples.keys()
  console.log(
    `\n${title}: requests per second, of ${first} (lowest and highest of a process), processor time per request`,
  )
  for (const [name, processes] of samples) {
    const all = processes.flat()
    const of = (key) => median(all.map((sample) => sample[key]))
    const ratios = processes.map((rounds) => median(rounds.map(({ ratio }) => ratio)))
    const range = `(${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)})`
    const rate = of('rate').toFixed(0).padStart(7)
    console.log(`  ${name.padEnd(24)} ${rate}  ${of('ratio').toFixed(2)} ${range}  ${of('cost').toFixed(1)} us`)
  }
}

/** Runs asynchronous functions by turns in this process, in another order each round. Returns the rates per second of each. */
export async function ratesByTurns(contestants, { concurrency, count, rounds, warmUps = 3 }) {
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
