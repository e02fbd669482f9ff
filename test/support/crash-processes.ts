import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { Pool } from 'pg'
import { expect } from 'vitest'
import type { CrashWorkerOptions, Observation } from './crash-worker.ts'
import { showErrors } from './show-errors.ts'

const PROCESSES = 3

/** What all processes together have observed. */
export interface Observed {
  /** The names of animals by id: acknowledged, or read from the list. */
  readonly animals: ReadonlyMap<string, string>
  /** The ids of animals whose sale was acknowledged. */
  readonly sold: ReadonlySet<string>
  /** For each process, the ids that its follower has read, in this order. */
  readonly followed: readonly (readonly string[])[]
}

/** Starts processes that add animals and follow the list. They go on while PostgreSQL is away. */
export function startProcesses(program: string, url: string, round: string) {
  const animals = new Map<string, string>()
  const sold = new Set<string>()
  const idsOfKeys = new Map<string, string>()
  const problems: string[] = []
  const waiting = new Set<() => void>()
  let acknowledged = 0

  function observe(observation: Observation, followed: string[]): void {
    if (observation.kind === 'stopped') return
    const { id, name, kind } = observation
    const known = animals.get(id) ?? name
    if (known !== name) problems.push(`animal ${id} was ${known}, and is now ${name}`)
    animals.set(id, name)
    if (kind === 'listed') return void followed.push(id)
    if (kind === 'sold') return void sold.add(id)
    acknowledged += 1
    if (kind === 'used') {
      const first = idsOfKeys.get(observation.key) ?? id
      if (first !== id) problems.push(`the key ${observation.key} added the animals ${first} and ${id}`)
      idsOfKeys.set(observation.key, id)
    }
    for (const check of waiting) check()
  }

  const children = Array.from({ length: PROCESSES }, (_, number) => {
    const options: CrashWorkerOptions = { url, name: `${round}-${number}` }
    const env = { ...process.env, CRASH_WORKER: JSON.stringify(options) }
    const child = showErrors(fork(program, { env, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] }))
    const followed: string[] = []
    child.on('message', (observation: Observation) => observe(observation, followed))
    return { child, followed }
  })
  const followed = children.map((one) => one.followed)

  return {
    observed: { animals, sold, followed } satisfies Observed,
    problems,
    /** Returns what was observed so far. */
    snapshot: (): Observed => ({
      animals: new Map(animals),
      sold: new Set(sold),
      followed: followed.map((ids) => [...ids]),
    }),
    /** Resolves after this many more acknowledged animals. */
    async acknowledge(count: number): Promise<void> {
      const goal = acknowledged + count
      const reached = new Promise<void>((resolve) => {
        const check = () => {
          if (acknowledged < goal) return
          waiting.delete(check)
          resolve()
        }
        waiting.add(check)
      })
      await Promise.race([reached, ...children.map(({ child }) => failure(child))])
    },
    /** Ends all calls. Each follower then reads the list to its end. */
    async stop(): Promise<void> {
      for (const { child } of children) child.send('stop')
      await Promise.all(children.map(({ child }) => Promise.race([stopped(child), failure(child)])))
      await this.kill()
    },
    async kill(): Promise<void> {
      await Promise.all(
        children.map(async ({ child }) => {
          if (child.exitCode !== null || child.signalCode !== null) return
          const ended = once(child, 'exit')
          child.kill('SIGKILL')
          await ended
        }),
      )
    },
  }
}

function stopped(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.on('message', ({ kind }: Observation) => {
      if (kind === 'stopped') resolve()
    })
  })
}

async function failure(child: ChildProcess): Promise<never> {
  const [code, signal] = await once(child, 'exit')
  throw new Error(`a process has ended with ${code ?? signal}`)
}

/** Checks that no observed animal is missing or doubled, that every sale was kept, and that no follower has skipped an animal that it should have read. */
export async function expectKept(pool: Pool, { animals, sold, followed }: Observed): Promise<void> {
  const { rows } = await pool.query<{ id: string; name: string; status: string }>(
    'SELECT p.id::text, name, status FROM petstore.pets AS p ORDER BY p.id',
  )
  const kept = new Map(rows.map(({ id, name }) => [id, name]))
  expect([...animals].filter(([id, name]) => kept.get(id) !== name)).toEqual([])
  const unsold = rows.filter(({ id, status }) => sold.has(id) && status !== 'sold')
  expect(unsold).toEqual([])
  expect(sold.size).toBeGreaterThan(0)
  const names = rows.map(({ name }) => name).filter((name) => name.startsWith('with the key'))
  expect(names.length).toBe(new Set(names).size)
  for (const ids of followed) {
    const last = BigInt(ids.at(-1) ?? 0)
    expect(ids).toEqual(rows.map(({ id }) => id).filter((id) => BigInt(id) <= last))
  }
}
