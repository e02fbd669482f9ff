import { connect } from 'node:net'
import { withServers } from '../support/processes.mjs'
import { median } from '../support/statistics.mjs'

const CONNECTIONS = 8

/**
 * Measures the latency of a list while another route of the same server computes for 20 ms at a time. Compares our server, which
 * batches responses, with a bare handler, which does not. Both wait for the computation, so their medians should be close.
 */
export async function busy({ settings }) {
  const env = { BENCH_BUSY: '1' }
  const servers = [
    { name: 'bare node:http', file: 'bare-node', env },
    { name: 'petstore-kit', file: 'kit-node', env },
  ]
  const medians = await withServers(servers, async (running) => {
    const all = new Map(running.map(({ name }) => [name, []]))
    for (let round = 0; round < settings.rounds; round++)
      for (const { name, port, tokens } of running)
        all.get(name).push(await medianLatency(port, tokens.main, settings.burst * 10))
    return all
  })
  console.log('\nlist beside a route that computes for 20 ms: median latency, ratio to bare')
  const base = median(medians.get('bare node:http'))
  return [...medians].map(([name, values]) => {
    const time = median(values)
    console.log(`  ${name.padEnd(24)} ${time.toFixed(1).padStart(7)} ms  ${(time / base).toFixed(2)}`)
    return { name, time }
  })
}

/** Measures one round. Every connection sends its next request as soon as it has read a response. */
async function medianLatency(port, token, duration) {
  const until = performance.now() + duration
  const latencies = []
  const loop = (path, onResponse) =>
    new Promise((resolve, reject) => {
      const request = `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`
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
  const lists = Array.from({ length: CONNECTIONS }, () => loop('/v1/pets/7', (latency) => latencies.push(latency)))
  await Promise.all([...lists, loop('/compute', () => {})])
  return median(latencies)
}
