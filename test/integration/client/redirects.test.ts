import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { rm, writeFile } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { bundleWorker, workerdArgs } from '../../conformance/bundle-worker.ts'
import { portOf, startProgram } from '../../conformance/start-host.ts'
import { nodeBinary, runtimeBinary, versions } from '../../support/runtimes.ts'
import { missing } from '../../support/skips.ts'

const program = (name: string) => join(import.meta.dirname, 'programs', name)

async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Starts a server that redirects everything to another origin. Returns its address, that origin, and what arrived there. */
async function startServers(status: number) {
  const arrived: string[] = []
  const other = await listen((request, response) => {
    arrived.push(`${request.method} ${request.headers.authorization}`)
    response.setHeader('content-type', 'application/json')
    response.end('{"id":1,"name":"Other","categoryId":1}')
  })
  const base = await listen((request, response) => {
    request.resume()
    response.writeHead(status, { location: other + (request.url ?? '') }).end()
  })
  return { base: `${base}/v1`, other, arrived }
}

const environment = (base: string) => ({ env: { ...process.env, BASE_URL: base } })
const processProgram = program('process.mjs')

/** The command of each runtime, or `undefined` if it cannot be installed. */
const commands = {
  'Node 20': [await nodeBinary(versions.node20), processProgram],
  'the newest Node': [await nodeBinary(versions.nodeNewest), processProgram],
  Bun: [await runtimeBinary('bun'), processProgram],
  Deno: [await runtimeBinary('deno'), 'run', '--allow-net', '--allow-env', '--allow-read', processProgram],
} as const

for (const [name, [binary = '', ...args]] of Object.entries(commands)) {
  test.skipIf(missing(name, binary !== ''))(`the client follows no redirect on ${name}`, async () => {
    for (const status of [301, 302, 303, 307, 308]) {
      const { base, other, arrived } = await startServers(status)
      const { stdout } = await promisify(execFile)(binary, args, environment(base))
      expectRejected(JSON.parse(stdout), other, arrived)
    }
  })
}

const workerd = await runtimeBinary('workerd')
// Before 31 October 2022, workerd had no `URL.canParse`, which the client uses.
const dates = ['2022-10-31', '2023-12-01', '2025-10-01']

test.skipIf(missing('workerd', workerd !== undefined)).each(dates)(
  'the client follows no redirect on workerd with the compatibility date %s',
  async (date) => {
    const folder = await bundleWorker(program('worker.mjs'))
    onTestFinished(() => rm(folder, { recursive: true }))
    // By default, a worker reaches only public addresses.
    const configuration = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .worker), (name = "internet", network = (allow = ["private"]))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const worker :Workerd.Worker = (modules = [(name = "worker.js", esModule = embed "worker.js")], compatibilityDate = "${date}");
`
    await writeFile(join(folder, 'worker.capnp'), configuration)
    const command = [workerd ?? '', ...workerdArgs, join(folder, 'worker.capnp')]
    const { value: port, stop } = await startProgram(command, portOf)
    onTestFinished(stop)
    for (const status of [302, 307]) {
      const { base, other, arrived } = await startServers(status)
      const response = await fetch(`http://127.0.0.1:${port}/?base=${encodeURIComponent(base)}`)
      expectRejected((await response.json()) as string[], other, arrived)
    }
  },
)

/** Checks that the errors of both calls name the target of the redirect, and that no request arrived there. */
function expectRejected(messages: readonly string[], other: string, arrived: readonly string[]): void {
  expect(messages).toEqual([
    expect.stringContaining(`unexpected_response: `),
    expect.stringContaining(`unexpected_response: `),
  ])
  for (const message of messages) expect(message).toContain(`got a redirect to "${other}/v1/pets`)
  expect(arrived).toEqual([])
}
