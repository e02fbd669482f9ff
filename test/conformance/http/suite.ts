import assert from 'node:assert/strict'
import { type Send, Wire } from './client.ts'
import { type Limit, limitOf } from './limits.ts'
import { addresses } from './rules/addresses.ts'
import { api } from './rules/api.ts'
import { bodies } from './rules/bodies.ts'
import { clientsThatLeave } from './rules/clients-that-leave.ts'
import { connections } from './rules/connections.ts'
import { hostMiddlewares } from './rules/host-middlewares.ts'
import { hostParsers } from './rules/host-parsers.ts'
import { hostRouters } from './rules/host-routers.ts'
import { httpContract } from './rules/http-contract.ts'
import { limits } from './rules/limits.ts'
import { mounting } from './rules/mounting.ts'
import { options } from './rules/options.ts'

/** The functions of a test runner that the suite uses. */
export interface Runner {
  describe(name: string, define: () => void): void
  test(name: string, run: () => Promise<void>): void
  beforeAll(run: () => Promise<void>): void
  afterAll(run: () => Promise<void>): void
}

/** A host under test. */
export interface Host {
  /** The name of the host, as `limitTable` lists it. */
  readonly name: string
  /** Whether to run the rules about Express routers, parsers and middleware. */
  readonly isExpress?: boolean
  start(): Promise<RunningHost>
}

/** A running host. `port` is missing if the host runs in this process. */
export interface RunningHost {
  readonly send: Send
  readonly port?: number
  stop?(): Promise<void>
}

/** One expectation, checked against a running host. */
export type Rule = (host: RuleHost) => Promise<void>
export type Rules = Readonly<Record<string, Rule>>

/** The running host and helpers, as a rule receives them. */
export interface RuleHost {
  readonly send: Send
  readonly port: number
  /** How often to look for an event. There is no limit unless the rule is expected to fail. */
  readonly looks: number
  /** Opens a connection. The suite closes it at the end of the rule. */
  wire(): Wire
}

const everywhere = { 'HTTP contract': httpContract, api, options, limits, bodies, mounting }
const overSockets = { connections, addresses, 'clients that disconnect': clientsThatLeave }
const onExpress = {
  'routers of the host': hostRouters,
  'body parsers of the host': hostParsers,
  'middlewares of the host': hostMiddlewares,
}

/** Runs every rule against a host. If a rule that `limitTable` lists for this host passes after all, its test fails. */
export function httpConformance(runner: Runner, host: Host, isInProcess = false): void {
  const groups: Readonly<Record<string, Rules>> = {
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
    for (const [group, rules] of Object.entries(groups)) {
      runner.describe(group, () => {
        for (const [name, rule] of Object.entries(rules)) {
          const limit = limitOf(host.name, name)
          if (limit === undefined) runner.test(name, () => runRule(rule, running))
          else
            runner.test(`this host cannot pass: ${name}`, () =>
              expectLimit(
                () => runRule(rule, running, { looks: 100, patience: limit.isSilent ? 500 : undefined }),
                limit,
              ),
            )
        }
      })
    }
  })
}

async function expectLimit(check: () => Promise<void>, { shows, reason, isChance = false }: Limit): Promise<void> {
  if (isChance) await check().catch((error: Error) => assert.match(String(error), shows))
  else await assert.rejects(check(), shows, `this limit is gone, or the rule fails differently: ${reason}`)
}

async function runRule(
  rule: Rule,
  running: RunningHost | undefined,
  { looks = Infinity, patience }: { looks?: number; patience?: number | undefined } = {},
): Promise<void> {
  if (running === undefined) throw new Error('the host did not start')
  const { send, port = 0 } = running
  const wires: Wire[] = []
  const wire = () => {
    const opened = new Wire(port, patience)
    wires.push(opened)
    return opened
  }
  try {
    await rule({ send, port, looks, wire })
  } finally {
    for (const opened of wires) opened.close()
  }
}
