import { setImmediate as setImmediateCallback } from 'node:timers'
import { setImmediate } from 'node:timers/promises'
import autocannon from 'autocannon'
import { Pool } from 'undici'

export const CONNECTIONS = 32

/**
 * Sends requests over 32 connections, each as soon as its last response has arrived. Each connection begins at another place of the
 * list. Returns the requests per second. Throws if a response is an error.
 */
export async function sendAll(server, requests, amount) {
  let connection = 0
  let responses = 0
  let endedAt = 0
  const startedAt = performance.now()
  const sleepAgain = stayAwake()
  const run = autocannon({
    url: `http://127.0.0.1:${server.port}`,
    connections: CONNECTIONS,
    amount,
    requests,
    // By default, autocannon looks only once a second whether it is done.
    sampleInt: 50,
    setupClient(client) {
      const at = Math.floor((connection++ * requests.length) / CONNECTIONS)
      client.setRequests([...requests.slice(at), ...requests.slice(0, at)])
    },
  })
  run.on('response', () => {
    responses++
    if (responses === amount) endedAt = performance.now()
  })
  const { errors, non2xx, timeouts } = await run
  sleepAgain()
  const failed = errors + non2xx + timeouts
  if (failed > 0) throw new Error(`${server.name}: ${failed} of ${amount} requests failed`)
  return (amount * 1000) / (endedAt - startedAt)
}

/**
 * Keeps this process busy until the returned function is called. A server pays for waking a client that sleeps, and a slower server
 * more often: its CPU time would grow by more than its own work.
 */
function stayAwake() {
  let immediate
  const turn = () => {
    immediate = setImmediateCallback(turn)
  }
  turn()
  return () => clearImmediate(immediate)
}

/**
 * Sends requests at a fixed rate. Returns the time in microseconds that 99 % of the responses take at most. The time begins when a
 * request is due, so a pause of the server counts for all requests that are due in it.
 */
export async function p99AtRate(server, requests, rate, seconds) {
  const pool = new Pool(`http://127.0.0.1:${server.port}`, { connections: CONNECTIONS })
  const times = []
  const pending = []
  const startedAt = performance.now()
  for (let i = 0; i < rate * seconds; i++) {
    const due = startedAt + (i * 1000) / rate
    while (performance.now() < due) await setImmediate()
    const { path, method, headers, body } = requests[i % requests.length]
    const response = pool.request({ path, method, headers, body }).then(async (response) => {
      await response.body.dump()
      if (response.statusCode >= 300) throw new Error(`${server.name} responded with ${response.statusCode}`)
      times.push(performance.now() - due)
    })
    pending.push(response)
  }
  await Promise.all(pending)
  await pool.close()
  times.sort((a, b) => a - b)
  return times[Math.floor(times.length * 0.99)] * 1000
}
