// npm install @opentelemetry/api @opentelemetry/sdk-metrics && node examples/monitoring/opentelemetry.mjs
import { metrics } from '@opentelemetry/api'
import { ConsoleMetricExporter, MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { createPetStore } from 'petstore-kit'
import { serve } from 'petstore-kit/node'

// Put the exporter of your collector here, such as that of @opentelemetry/exporter-metrics-otlp-http.
const reader = new PeriodicExportingMetricReader({ exporter: new ConsoleMetricExporter() })
const provider = new MeterProvider({ readers: [reader] })
metrics.setGlobalMeterProvider(provider)

const meter = metrics.getMeter('petstore')
const durations = meter.createHistogram('http.server.request.duration', {
  unit: 's',
  advice: { explicitBucketBoundaries: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] },
})
const faults = meter.createCounter('petstore.faults')

const petStore = createPetStore({
  onResponse: ({ operation = 'none', plan = 'none', status, code = 'none', durationMs }) =>
    durations.record(durationMs / 1_000, {
      'http.response.status_code': status,
      'petstore.operation': operation,
      'petstore.plan': plan,
      'petstore.code': code,
    }),
  onError(error, { method, target, keyId }) {
    if (error?.code !== 'untrusted_forwarded_for') faults.add(1) // a notice about a setting, not a fault
    console.error(method, target, keyId, error)
  },
})
const { token } = await petStore.keys.issue({ plan: 'free' })

const { url, close } = await serve(petStore, { port: Number(process.env.PORT ?? 3000) })
console.log(`curl -H 'Authorization: Bearer ${token}' ${url}/v1/pets`)
process.once('SIGTERM', async () => {
  await close()
  await provider.shutdown() // exports the measurements since the last export
})
