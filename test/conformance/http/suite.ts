import assert from 'node:assert/strict'
import { type Send, Wire } from './client.ts'
import { type Limit, limitOf } from './limits.ts'
import { addresses } from './rows/addresses.ts'
import { bodies } from './rows/bodies.ts'
import { clientsThatLeave } from './rows/clients-that-leave.ts'
import { connections } from './rows/connections.ts'
import { contract } from './rows/contract.ts'
import { hostMiddlewares } from './rows/host-middlewares.ts'
import { hostParsers } from './rows/host-parsers.ts'
import { hostRouters } from './rows/host-routers.ts'
import { httpContract } from './rows/http-contract.ts'
import { limits } from './rows/limits.ts'
import { mounting } from './rows/mounting.ts'
import { options } from './rows/options.ts'

/** What the suite needs of a test runner. */
export interface Runner {
  describe(name: string, define: () => void): void
  test(name: string, run: () => Promise<void>): void
  beforeAll(run: () => Promise<void>): void
  afterAll(run: () => Promise<void>): void
}

/** A host under test. */
export interface Host {
  /** Its name in the table of limits. */
  readonly name: string
  /** Whether Express's own ways of mounting are to be tried. */
  readonly isExpress?: boolean
  start(): Promise<RunningHost>
}

/** A host that answers: by its port, or in this process by `send` alone. */
export interface RunningHost {
  readonly send: Send
  readonly port?: number
  stop?(): Promise<void>
}

/** One expectation, checked against a running host. */
export type Row = (host: RowHost) => Promise<void>
export type Rows = Readonly<Record<string, Row>>

/** What a row works with. */
export interface RowHost {
  readonly send: Send
  readonly port: number
  /** Opens a connection, which is closed when the row has ended. */
  wire(): Wire
}

const everywhere = { 'HTTP contract': httpContract, contract, options, limits, bodies, mounting }
const overSockets = { connections, addresses, 'clients that leave': clientsThatLeave }
const onExpress = {
  'routers of the host': hostRouters,
  'body parsers of the host': hostParsers,
  'middlewares of the host': hostMiddlewares,
}

/** Runs every row against a host. A row that a host makes impossible is expected to fail, so that a limit that falls is noticed. */
export function httpConformance(runner: Runner, host: Host, isInProcess = false): void {
  const groups: Readonly<Record<string, Rows>> = {
    ...everywhere,
    ...(isInProcess ? {} : overSockets),
    ...(host.isExpress ? onExpress : {}),
  }
  runner.describe(host.name, () => {
    let running: RunningHost | undefined
    runner.beforeAll(async () => {
      running = await host.start()
    })
    runner.afterAll(async () => running?.stop?.())
    for (const [group, rows] of Object.entries(groups)) {
      runner.describe(group, () => {
        for (const [name, row] of Object.entries(rows)) {
          const limit = limitOf(host.name, name)
          const check = () => runRow(row, running)
          if (limit === undefined) runner.test(name, check)
          else runner.test(`NOT: ${name} (${limit.reason})`, () => expectLimit(check, limit))
        }
      })
    }
  })
}

async function expectLimit(check: () => Promise<void>, { shows, isChance = false }: Limit): Promise<void> {
  if (isChance) await check().catch((error: Error) => assert.match(String(error), shows))
  else await assert.rejects(check(), shows, 'the limit is gone, or shows in another way')
}

async function runRow(row: Row, running: RunningHost | undefined): Promise<void> {
  if (running === undefined) throw new Error('the host did not start')
  const { send, port = 0 } = running
  const wires: Wire[] = []
  const wire = () => {
    const opened = new Wire(port)
    wires.push(opened)
    return opened
  }
  try {
    await row({ send, port, wire })
  } finally {
    for (const opened of wires) opened.close()
  }
}
