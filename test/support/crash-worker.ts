/** A process that adds and sells animals and follows the list, for tests in which PostgreSQL crashes. Its options are in CRASH_WORKER. */
import { Pool } from 'pg'
import { postgres } from '../../adapters/back-ends/postgres/index.ts'
import { fingerprintOf } from '../../src/pets/idempotency.ts'

/** The options of a process. */
export interface CrashWorkerOptions {
  readonly url: string
  /** Sets the names of this process apart from those of others. */
  readonly name: string
}

/** What a process has observed. The names and keys of all processes differ, except keys that begin with `shared`. */
export type Observation =
  | { readonly kind: 'added' | 'listed' | 'sold'; readonly id: string; readonly name: string }
  | { readonly kind: 'used'; readonly id: string; readonly name: string; readonly key: string }
  /** After the command `stop`: all calls have ended, and the list was read to its end. */
  | { readonly kind: 'stopped' }

const CLIENTS = 6

const { url, name } = JSON.parse(process.env.CRASH_WORKER ?? '') as CrashWorkerOptions
const timeouts = { connectionTimeoutMillis: 3_000, statement_timeout: 8_000, query_timeout: 9_000 }
const pool = new Pool({ connectionString: url, max: 8, ...timeouts })
pool.on('error', () => {})
const { storage } = postgres(pool)
let isStopping = false

const tell = (observation: Observation) => process.send?.(observation)
const pause = () => new Promise((resolve) => setTimeout(resolve, 5))

/** Repeats a call until PostgreSQL responds, as a client does after a 503. */
async function persist<T>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call()
    } catch (error) {
      if ((error as { code?: string }).code !== 'service_unavailable') throw error
      await pause()
    }
  }
}

async function addAnimals(client: number): Promise<void> {
  for (let i = 0; !isStopping; i++) {
    const pet = { name: `${name} ${client}.${i}`, categoryId: 1n, status: 'available' } as const
    try {
      const { id } = await storage.create(pet)
      tell({ kind: 'added', id: `${id}`, name: pet.name })
      // A repeat after a crash finds the animal sold if the first call was applied.
      await persist(async () => storage.update?.(id, { status: 'sold' }, { if: { status: 'available' } }))
      tell({ kind: 'sold', id: `${id}`, name: pet.name })
    } catch (error) {
      if ((error as { code?: string }).code !== 'service_unavailable') throw error
      await pause()
    }
  }
}

/** Uses each key until it gets an animal, and then once more. Every second key is also used by the other processes. */
async function addAnimalsOnce(client: number): Promise<void> {
  for (let i = 0; !isStopping; i++) {
    const key = i % 2 === 0 ? `${name} ${client}.${i}` : `shared ${client}.${i}`
    const pet = { name: `with the key ${key}`, categoryId: 1n, status: 'available' } as const
    const idempotency = { scope: 'account:acme', key, fingerprint: fingerprintOf(pet) }
    for (let repeat = 0; repeat < 2; repeat++) {
      const created = await persist(async () => storage.create(pet, { idempotency }))
      tell({ kind: 'used', id: `${created?.id}`, name: pet.name, key })
    }
  }
}

/** Follows the list, and reads it to its end when all other calls have ended. */
async function follow(writing: Promise<unknown>): Promise<void> {
  let hasEnded = false
  void writing.then(() => {
    hasEnded = true
  })
  for (let after: bigint | undefined; ; ) {
    const isLast = hasEnded
    const page = await persist(async () => storage.list({ limit: 50, after }))
    for (const pet of page) tell({ kind: 'listed', id: `${pet.id}`, name: pet.name })
    after = page.at(-1)?.id ?? after
    if (isLast && page.length === 0) return
    if (page.length === 0) await pause()
  }
}

process.on('message', () => {
  isStopping = true
})
process.on('disconnect', () => process.exit())
const clients = Array.from({ length: CLIENTS }, (_, client) => client)
const writing = Promise.all(clients.map((client) => (client % 2 === 0 ? addAnimals(client) : addAnimalsOnce(client))))
await Promise.all([writing, follow(writing)])
tell({ kind: 'stopped' })
