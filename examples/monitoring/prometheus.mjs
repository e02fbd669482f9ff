// npm install prom-client && node examples/monitoring/prometheus.mjs
import { createServer } from 'node:http'
import { createPetStore } from 'petstore-kit'
import { toNodeHandler } from 'petstore-kit/node'
import { Counter, Histogram, register } from 'prom-client'

const durations = new Histogram({
  name: 'petstore_request_duration_seconds',
  help: 'Duration of requests to the pet store, by operation, plan, status and error code.',
  labelNames: ['operation', 'plan', 'status', 'code'],
})
const faults = new Counter({ name: 'petstore_faults_total', help: 'Faults of the back ends of the pet store.' })

const petStore = createPetStore({
  onResponse: ({ operation = 'none', plan = 'none', status, code = 'none', durationMs }) =>
    durations.observe({ operation, plan, status, code }, durationMs / 1_000),
  onError(error, { method, target, keyId }) {
    if (error?.code !== 'untrusted_forwarded_for') faults.inc() // a notice about a setting, not a fault
    console.error(method, target, keyId, error)
  },
})
const { token } = await petStore.keys.issue({ plan: 'free' })
const listen = (handler, port, onListening) => {
  const server = createServer(handler).listen(port, '127.0.0.1', () => onListening(server.address().port))
}

// The metrics have a port of their own, which the load balancer does not publish.
listen(
  async (_request, response) => {
    response.setHeader('Content-Type', register.contentType)
    response.end(await register.metrics())
  },
  process.env.METRICS_PORT ?? 9464,
  (port) => console.log(`curl http://127.0.0.1:${port}/metrics`),
)
listen(toNodeHandler(petStore), process.env.PORT ?? 3000, (port) => {
  console.log(`curl -H 'Authorization: Bearer ${token}' http://127.0.0.1:${port}/v1/pets`)
})
