import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startBalancer } from '../../support/balancer.ts'
import { postgresPrograms } from '../../support/postgres-server.ts'
import { isReady, restartInTurn } from '../../support/rolling-restart.ts'
import { findProgram, freePort, startProcess } from '../../support/server-process.ts'
import { missing } from '../../support/skips.ts'

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
    block = block.replace(from, to)
  }
  return block
}

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'petstore-kit-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return folder
}

test.skipIf(noPostgres)('two servers restart in turn four times without a lost request or animal', async () => {
  let lost: readonly string[] = []
  const { failed, added, stored } = await restartInTurn({
    drainDelay: 10,
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
      drainDelay: 2,
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
      drainDelay: 5,
      async startBalancer(ports) {
        const port = await freePort()
        const block = await documentedBlock('backend pets', ports)
        const file = join(await temporaryFolder(), 'haproxy.cfg')
        const times = 'timeout connect 5s\ntimeout client 50s\ntimeout server 50s'
        const frontEnd = `frontend all\nbind 127.0.0.1:${port}\ndefault_backend pets`
        await writeFile(file, `defaults\nmode http\n${times}\n${frontEnd}\n${block}`)
        const server = await startProcess(haproxy as string, ['-W', '-db', '-f', file], /Loading success/)
        onTestFinished(() => server.stop('SIGTERM'))
        await isReady(port)
        return { url: `http://127.0.0.1:${port}` }
      },
    })

    expect(failed).toEqual([])
    expect(stored).toEqual(added)
  },
)
