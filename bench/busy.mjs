import { connect } from 'node:net'
import { median } from './compare.mjs'
import { requestText } from './load.mjs'
import { pin, withServers } from './processes.mjs'

const CONNECTIONS = 8
const ROUNDS = 5
const ROUND = 3_000

/**
 * Measures the latency of a list while another route of the same server computes for 20 ms at a time. Compares the kit, which
 * batches responses, with a bare handler, which does not. Both wait for the computation, so their medians should be close.
 */
export async function benchBusy() {
  pin(process.pid, 1)
  const servers = [
    { name: 'bare', file: 'bare', args: ['busy'] },
    { name: 'kit', file: 'kit', args: ['busy'] },
  ]
  const medians = await withServers(servers, async (running) => {
    const all = new Map(running.map(({ name }) => [name, []]))
    for (let round = 0; round < ROUNDS; round++)
      for (const { name, port, token } of running) all.get(name).push(await medianLatency(port, token))
    return all
  })
  console.log('\nlist beside a route that computes for 20 ms: median latency, ratio to bare')
  const base = median(medians.get('bare'))
  for (const [name, values] of medians) {
    const value = median(values)
    console.log(`  ${name.padEnd(24)} ${value.toFixed(1).padStart(7)} ms  ${(value / base).toFixed(2)}`)
  }
}

/** Measures one round. Every connection sends its next request as soon as it has read a response. */
async function medianLatency(port, token) {
  const until = performance.now() + ROUND
  const latencies = []
  const loop = (request, onResponse) =>
    new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1')
      let startedAt = 0
      const send = () => {
        startedAt = performance.now()
        socket.write(request)
      }
      socket.setNoDelay(true).on('connect', send).on('error', reject).on('close', resolve)
      socket.on('data', () => {
        onResponse(performance.now() - startedAt)
        if (performance.now() < until) send()
        else socket.end()
      })
    })
  const lists = Array.from({ length: CONNECTIONS }, () =>
    loop(requestText('list', token).replace('/v1/pets', '/v1/pets?limit=1'), (latency) => latencies.push(latency)),
  )
  await Promise.all([...lists, loop('GET /compute HTTP/1.1\r\nHost: localhost\r\n\r\n', () => {})])
  return median(latencies)
}
