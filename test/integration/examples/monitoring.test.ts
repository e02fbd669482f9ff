import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'
import { showErrors } from '../../support/show-errors.ts'

const folder = join(import.meta.dirname, '../../../examples/monitoring')

/** Starts an example. `output` returns all of its output, and `line` waits until the output matches. */
function start(name: string): {
  child: ChildProcess
  output: () => string
  line: (pattern: RegExp) => Promise<string[]>
} {
  const env = { ...process.env, PORT: '0', METRICS_PORT: '0' }
  const child = showErrors(spawn(process.execPath, [join(folder, name)], { env, stdio: ['ignore', 'pipe', 'pipe'] }))
  onTestFinished(() => void child.kill('SIGKILL'))
  let output = ''
  const waiting: (() => void)[] = []
  createInterface(child.stdout).on('line', (line) => {
    output += `${line}\n`
    for (const look of waiting.splice(0)) look()
  })
  return {
    child,
    output: () => output,
    async line(pattern) {
      for (;;) {
        const match = pattern.exec(output)
        if (match) return match
        await new Promise<void>((resolve) => waiting.push(resolve))
      }
    },
  }
}

/** Sends a request with the key, and a request without it that provokes the notice about `trustProxy`. */
async function sendRequests([, token, url = '']: readonly string[]): Promise<void> {
  expect((await fetch(url, { headers: { authorization: `Bearer ${token}` } })).status).toBe(200)
  expect((await fetch(url, { headers: { 'x-forwarded-for': '203.0.113.7' } })).status).toBe(401)
}

const API = /^curl -H 'Authorization: Bearer (.*)' (.*)$/m

test('the Prometheus example counts requests by operation and status', async () => {
  const { line } = start('prometheus.mjs')
  const [, metrics = ''] = await line(/^curl (http.*\/metrics)$/m)
  await sendRequests(await line(API))
  const text = await (await fetch(metrics)).text()
  expect(text).toContain(
    'petstore_request_duration_seconds_count{operation="listPets",plan="free",status="200",code="none"} 1',
  )
  expect(text).toContain(
    'petstore_request_duration_seconds_count{operation="listPets",plan="none",status="401",code="missing_api_key"} 1',
  )
  expect(text).toContain('petstore_faults_total 0')
})

test('the OpenTelemetry example exports durations when the server stops', async () => {
  const { child, line, output } = start('opentelemetry.mjs')
  await sendRequests(await line(API))
  const closed = once(child, 'close')
  child.kill('SIGTERM')
  await closed
  expect(output()).toContain("name: 'http.server.request.duration'")
  expect(output()).toMatch(
    /'http\.response\.status_code': 401,\s+'petstore\.operation': 'listPets',\s+'petstore\.plan': 'none',\s+'petstore\.code': 'missing_api_key'/,
  )
})
