import { fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { load, requestText } from './load.mjs'

const servers = ['bare', 'kit', 'fastify']
const hasTaskset = spawnSync('taskset', ['-V']).status === 0

/** Starts one server on processor 0, where the machine can pin it; the load runs in this process, on another. */
async function start(name) {
  const child = fork(new URL(`servers/${name}.mjs`, import.meta.url), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const [{ port, token }] = await once(child, 'message')
  if (hasTaskset) spawnSync('taskset', ['-a', '-p', '-c', '0', String(child.pid)])
  return { name, child, port, token }
}

async function processorTime(child) {
  child.send('cpu')
  const [{ cpu }] = await once(child, 'message')
  return cpu.user + cpu.system
}

/** All servers must give the same answer before any of them is timed. */
async function assertAlike(running) {
  const bodies = await Promise.all(
    running.map(({ port, token }) =>
      fetch(`http://127.0.0.1:${port}/v1/pets`, { headers: { authorization: `Bearer ${token}` } }).then((r) =>
        r.json(),
      ),
    ),
  )
  const canonical = bodies.map((body) =>
    JSON.stringify(body.map(({ id, name, categoryId, status }) => [id, name, categoryId, status])),
  )
  if (new Set(canonical).size !== 1) throw new Error('the servers do not answer alike')
}

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]
const shuffled = (list) =>
  list
    .map((item) => [Math.random(), item])
    .sort(([a], [b]) => a - b)
    .map(([, item]) => item)

/** Requests per second, and processor microseconds per request, of each server: the medians of several rounds. */
async function measure(running, kind, count, rounds) {
  const samples = new Map(running.map(({ name }) => [name, []]))
  for (let round = -1; round < rounds; round++) {
    for (const { name, child, port, token } of shuffled(running)) {
      const before = await processorTime(child)
      const seconds = await load(port, requestText(kind, token), count)
      const used = (await processorTime(child)) - before
      if (round >= 0) samples.get(name).push({ rate: count / seconds, cost: used / count })
    }
  }
  return new Map(
    [...samples].map(([name, list]) => [
      name,
      { rate: median(list.map((s) => s.rate)), cost: median(list.map((s) => s.cost)) },
    ]),
  )
}

/** Over HTTP: the kit beside a bare handler that writes the same bytes, and beside Fastify with what it would need. */
export async function benchHttp({ count = 20_000, rounds = 7 } = {}) {
  if (hasTaskset) spawnSync('taskset', ['-a', '-p', '-c', '1', String(process.pid)])
  const running = await Promise.all(servers.map(start))
  try {
    await assertAlike(running)
    for (const kind of ['list', 'create']) {
      const results = await measure(running, kind, count, rounds)
      const bare = results.get('bare')
      console.log(`\n${kind}, requests per second (of bare) and processor time per request:`)
      for (const [name, { rate, cost }] of results) {
        console.log(
          `  ${name.padEnd(8)} ${rate.toFixed(0).padStart(7)}  ${(rate / bare.rate).toFixed(2)}  ${cost.toFixed(1)} us`,
        )
      }
    }
  } finally {
    for (const { child } of running) child.kill()
  }
}
