import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { serve } from '../../../adapters/hosts/node/index.ts'
import { createPetStore, type KeyStore, memory } from '../../../src/index.ts'
import { startBalancer } from '../../support/balancer.ts'
import { postgresPrograms } from '../../support/postgres-server.ts'
import { isReady, petstoreServe, restartInTurn } from '../../support/rolling-restart.ts'
import { findProgram, freePort, startProcess } from '../../support/server-process.ts'
import { missing } from '../../support/skips.ts'
import { until } from '../../support/until.ts'

const noPostgres = missing('PostgreSQL', (await postgresPrograms()) !== undefined)
const nginx = findProgram('nginx')
const haproxy = findProgram('haproxy')

/** Returns a block of `docs/operating.md` that contains a text, for servers on these ports and with other texts replaced. */
async function documentedBlock(text: string, [a, b]: readonly [number, number], others: Record<string, string> = {}) {
  const document = await readFile(join(import.meta.dirname, '../../../docs/operating.md'), 'utf8')
  const blocks = [...document.matchAll(/^```\w+\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block)
  let block = blocks.find((one) => one.includes(text)) ?? ''
  for (const [from, to] of Object.entries({ ':3001': `:${a}`, ':3002': `:${b}`, ...others })) {
    expect(block).toContain(from)
    block = block.replaceAll(from, to)
  }
  return block
}

async function startHaproxy(port: number, ports: readonly [number, number]) {
  const block = await documentedBlock('backend pets', ports, { 'bind :8080': `bind 127.0.0.1:${port}` })
  const file = join(await temporaryFolder(), 'haproxy.cfg')
  const times = 'timeout connect 5s\ntimeout client 50s\ntimeout server 50s'
  await writeFile(file, `defaults\nmode http\n${times}\n${block}`)
  const server = await startProcess(haproxy as string, ['-W', '-db', '-f', file], /Loading success/)
  onTestFinished(() => server.stop('SIGTERM'))
  return server
}

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'petstore-kit-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return folder
}

test.skipIf(noPostgres)('two servers restart in turn four times without a lost request or animal', async () => {
  let lost: readonly string[] = []
  const { failed, added, stored } = await restartInTurn({
    startServer: petstoreServe(10),
    async startBalancer(ports) {
      const balancer = await startBalancer(ports)
      onTestFinished(() => balancer.close())
      for (const port of ports) await balancer.isReady(port)
      lost = balancer.lost
      return balancer
    },
  })

  expect(lost).toEqual([])
  expect(failed).toEqual([])
  expect(stored).toEqual(added)
})

test.skipIf(missing('nginx', nginx !== undefined) || noPostgres)(
  'two servers restart in turn behind nginx as documented',
  async () => {
    const { failed, added, stored } = await restartInTurn({
      startServer: petstoreServe(2),
      async startBalancer(ports) {
        const port = await freePort()
        const block = await documentedBlock('upstream pets', ports, { 'listen 8080;': `listen 127.0.0.1:${port};` })
        const folder = await temporaryFolder()
        const file = join(folder, 'nginx.conf')
        const settings = `pid ${folder}/pid;\nevents {}\nhttp {\naccess_log off;\n${block}}\n`
        await writeFile(file, `daemon off;\nmaster_process off;\nerror_log stderr notice;\n${settings}`)
        const args = ['-p', folder, '-e', 'stderr', '-c', file]
        const server = await startProcess(nginx as string, args, /OS: /)
        onTestFinished(() => server.stop('SIGTERM'))
        await isReady(port)
        return { url: `http://127.0.0.1:${port}` }
      },
    })

    expect(failed).toEqual([])
    expect(stored).toEqual(added)
  },
)

test.skipIf(missing('haproxy', haproxy !== undefined) || noPostgres)(
  'two servers restart in turn behind HAProxy as documented',
  async () => {
    const { failed, added, stored } = await restartInTurn({
      startServer: petstoreServe(5),
      async startBalancer(ports) {
        const port = await freePort()
        await startHaproxy(port, ports)
        await isReady(port)
        return { url: `http://127.0.0.1:${port}` }
      },
    })

    expect(failed).toEqual([])
    expect(stored).toEqual(added)
  },
)

test.skipIf(missing('haproxy', haproxy !== undefined))(
  'HAProxy sends requests to all servers while none is ready, as if all were busy',
  async () => {
    const backEnd = memory()
    const { token } = await backEnd.keyStore.issue({ plan: 'business' })
    // The calls of `ready` fail, as if they waited for a connection. Requests need no other call of the key store.
    const find: KeyStore['find'] = (sent) =>
      sent === token ? backEnd.keyStore.find(sent) : Promise.reject(new Error('busy'))
    const petStore = createPetStore({ ...backEnd, keyStore: { find }, onError: () => {} })
    const servers = [await serve(petStore, { port: 0 }), await serve(petStore, { port: 0 })] as const
    for (const { close } of servers) onTestFinished(close)
    const portOf = ({ url }: { url: string }) => Number(new URL(url).port)
    const port = await freePort()
    const balancer = await startHaproxy(port, [portOf(servers[0]), portOf(servers[1])])
    for (const name of ['a', 'b']) await until(async () => balancer.output().includes(`Server pets/${name} is DOWN`))
    const headers = { authorization: `Bearer ${token}` }
    for (let i = 0; i < 10; i++) expect((await fetch(`http://127.0.0.1:${port}/v1/pets`, { headers })).status).toBe(200)
  },
)
