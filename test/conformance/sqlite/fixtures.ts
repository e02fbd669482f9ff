import { prepare } from '../../../adapters/back-ends/sqlite/connection.ts'
import type { CreatedPet, PetMembers, PetStorage, QuotaRequest } from '../../../src/index.ts'
import type { TestRunner } from '../../../src/testing/index.ts'
import { type Connection, type OpenFile, openBackEnd } from './open.ts'

export const REX: PetMembers = { name: 'Rex', categoryId: 7n, status: 'sold' }
export const DAY = 86_400_000
/** Old rows are deleted once in this number of uses. */
export const PRUNE_PERIOD = 500
export const UNAVAILABLE = { code: 'service_unavailable', status: 503 }

/** Returns a function that adds a test with a back end on a new file. */
export function onNewFile(test: TestRunner['test'], openFile: OpenFile) {
  return (title: string, body: (opened: ReturnType<typeof openBackEnd>) => Promise<void>) =>
    test(title, async () => {
      const opened = openBackEnd(openFile)
      try {
        await body(opened)
      } finally {
        await opened.close()
      }
    })
}

export function query(database: Connection, sql: string): Record<string, unknown>[] {
  return prepare(database, sql).all() as Record<string, unknown>[]
}

export function pragma(database: Connection, name: string): string {
  return String(Object.values(query(database, `PRAGMA ${name}`)[0] ?? {})[0])
}

export function spending(subject: string, now: number): QuotaRequest {
  return { subject, anonymous: true, limits: { perMinute: 60, perDay: 1_000 }, ban: false, now }
}

export async function createWithKey(storage: PetStorage, key: string, name = REX.name): Promise<CreatedPet> {
  const idempotency = { scope: 'account:acme', key, fingerprint: '7 sold Rex' }
  return storage.create({ ...REX, name }, { idempotency })
}
