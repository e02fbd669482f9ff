import { readFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, onTestFinished, test } from 'vitest'
import { logRequests } from '../../../adapters/cli/page/request-log.ts'
import { createPetStore } from '../../../src/index.ts'
import { startPetstore } from '../../support/petstore-command.ts'
import { rawRequest } from '../../support/raw-http.ts'
import { missing } from '../../support/skips.ts'
import { costOf, runtimes, startAttackedHost } from './hosts.ts'

const TIMES = 100
const onLinux = test.skipIf(missing('/proc', process.platform === 'linux'))

/** Returns the CPU time that the main thread of a process has used, in milliseconds. */
function cpuOf(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6
}

onLinux.each([
  ['text', 'a:@/'],
  ['text', '\\'],
  ['json', 'pet_'],
] as const)('--log %s: a path of 15 KB of %s costs little more than on a bare server', async (format, unit) => {
  const { address, child } = await startPetstore('--log', format)
  const bare = await startAttackedHost([process.execPath], 'bare')
  onTestFinished(bare.stop)
  const request = Buffer.from(`GET /v1/${unit.repeat(15_000 / unit.length)} HTTP/1.1\r\nHost: a\r\n\r\n`)
  const send = async () => {
    for (let i = 0; i < TIMES; i++) expect((await rawRequest(address, request)).status).toBeGreaterThan(400)
  }
  await send()
  const before = cpuOf(child.pid as number)
  await send()
  const cpuMs = (cpuOf(child.pid as number) - before) / TIMES
  // The measured ratio is 1.5. Before the log shortened paths, it was 270.
  expect(cpuMs / (await costOf(bare, request, TIMES)).cpuMs).toBeLessThan(15)
})

for (const [name, command] of runtimes) {
  test.skipIf(missing(name, command !== undefined) || process.platform !== 'linux')(
    `${name}: hostile characters do not make a 1 MB error message slow to log`,
    async () => {
      const host = await startAttackedHost(command ?? [], 'kit')
      onTestFinished(host.stop)
      const get = (id: number) =>
        Buffer.from(`GET /v1/pets/${id} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer free\r\n\r\n`)
      const plain = await costOf(host, get(2), 20)
      const hostile = await costOf(host, get(1), 20)
      expect([plain.statuses, hostile.statuses]).toEqual([[500], [500]])
      // The measured ratio is 1.
      expect(hostile.cpuMs / plain.cpuMs).toBeLessThan(20)
    },
  )
}

test('the log of the page uses little more memory than its limit', async () => {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  const used = () => {
    // One garbage collection may not free everything.
    for (let i = 0; i < 3; i++) collect()
    const { heapUsed, external } = process.memoryUsage()
    return (heapUsed + external) / 1e6
  }
  const text = (length: number, i: number) => `${i}${'x'.repeat(length)}`
  let sent = 0
  const store = createPetStore()
  const handle: typeof store.handle = async (request) => {
    await request.body(1e6)
    return { status: 200, headers: ['Location', text(15_000, sent)], body: text(300_000, sent) }
  }
  const { handle: logged, entriesAfter } = logRequests({ ...store, handle }, () => undefined)
  const before = used()
  for (; sent < 300; sent++) {
    await logged({
      method: 'POST',
      target: `/v1/pets?${text(15_000, sent)}`,
      header: () => text(15_000, sent),
      body: async () => Buffer.from(text(60_000, sent)),
    })
  }
  expect(entriesAfter(0).length).toBeGreaterThan(20)
  // Measured: 1.5 MB. When the log kept slices, which keep the whole texts in memory, it was 16 MB.
  expect(used() - before).toBeLessThan(10)
})
