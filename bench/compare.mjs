import { fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { load, requestText } from './load.mjs'

const hasTaskset = spawnSync('taskset', ['-V']).status === 0

/** Where the machine can pin processes, servers share processor 0, and the load that this process makes is on another. */
function pin(pid, processor) {
  if (hasTaskset) spawnSync('taskset', ['-a', '-p', '-c', String(processor), String(pid)])
}

async function start({ name, file = name, args = [], execPath = process.execPath }) {
  const child = fork(new URL(`servers/${file}.mjs`, import.meta.url), args, {
    execPath,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const [{ port, token }] = await once(child, 'message')
  pin(child.pid, 0)
  return { name, child, port, token }
}

/** In microseconds. */
async function processorTime(child) {
  child.send('cpu')
  const [{ cpu }] = await once(child, 'message')
  return cpu.user + cpu.system
}

/** What must be the same before anything is timed: the animals of a list, or the one that was created but for its id. */
async function answerOf({ port, token }, kind) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const init =
    kind === 'list' ? { headers } : { method: 'POST', headers, body: requestText(kind, token).split('\r\n\r\n')[1] }
  const body = await (await fetch(`http://127.0.0.1:${port}/v1/pets`, init)).json()
  const members = ({ id, name, categoryId, status }) => [kind === 'list' && id, name, categoryId, status]
  return JSON.stringify(kind === 'list' ? body.map(members) : members(body))
}

/** The middle one. */
export const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]
const shuffled = (list) =>
  list
    .map((item) => [Math.random(), item])
    .sort(([a], [b]) => a - b)
    .map(([, item]) => item)

/**
 * Compares servers side by side with the first of them: short bursts by turns, so that what slows the machine down for a
 * while slows all of them. Prints each one's rate, the median of its ratios to the first in the same round, and its
 * processor time per request.
 */
export async function compare(
  title,
  kind,
  servers,
  { alike = true, count = 4_000, rounds = 25, connections = 32 } = {},
) {
  pin(process.pid, 1)
  const running = await Promise.all(servers.map(start))
  const samples = new Map(running.map(({ name }) => [name, []]))
  try {
    if (alike && new Set(await Promise.all(running.map((one) => answerOf(one, kind)))).size > 1)
      throw new Error(`${title}: the servers do not answer alike`)
    for (const { port, token } of running) await load(port, requestText(kind, token), 40_000, connections)
    for (let round = 0; round < rounds; round++) {
      for (const { name, child, port, token } of shuffled(running)) {
        const before = await processorTime(child)
        const seconds = await load(port, requestText(kind, token), count, connections)
        samples.get(name).push({ rate: count / seconds, cost: ((await processorTime(child)) - before) / count })
      }
    }
  } finally {
    for (const { child } of running) child.kill()
  }
  const [base] = samples.values()
  console.log(`\n${title}: requests per second, of ${servers[0].name}, processor time per request`)
  for (const [name, list] of samples) {
    const ratio = median(list.map(({ rate }, round) => rate / base[round].rate))
    const rate = median(list.map((sample) => sample.rate))
    const cost = median(list.map((sample) => sample.cost))
    console.log(`  ${name.padEnd(24)} ${rate.toFixed(0).padStart(7)}  ${ratio.toFixed(2)}  ${cost.toFixed(1)} us`)
  }
}
