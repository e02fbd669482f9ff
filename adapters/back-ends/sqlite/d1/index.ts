import * as z from 'zod/mini'
import { hashIdempotency } from '../../../../src/back-end.ts'
import type { Clock, ManagedBackEnd } from '../../../../src/index.ts'
import { clock, optionsOf } from '../../../../src/schemas/options.ts'
import { parseOptions } from '../../../../src/schemas/parse-options.ts'
import { databaseKeys, type KeyOptions, keyShape } from '../../shared/keys.ts'
import { migrateD1 } from '../migrate.ts'
import { type RunAll, type RunOne, statements } from '../statements.ts'
import { tableStorage } from '../storage.ts'
import { type D1Database, engineOf } from './connection.ts'
import { d1Quota } from './quota.ts'

// These types are public in `petstore-kit`, too. Programs that emit declarations need them from this entry.
export type { ManagedKeyStore, PetStorage, QuotaStore } from '../../../../src/ports.ts'
export type { KeyOptions } from '../../shared/keys.ts'
export type { D1Database, D1Statement } from './connection.ts'

/** The options of {@link d1}. */
export interface D1Options extends KeyOptions {
  /**
   * A clock for tests, in milliseconds since the Unix epoch.
   * @default D1's time, so that all Workers agree
   */
  readonly clock?: Clock | undefined
}

/** A back end on Cloudflare D1. */
export interface D1BackEnd extends ManagedBackEnd {
  /**
   * Creates or updates the tables, if `wrangler d1 migrations apply` does not. Several Workers may
   * call it at the same time.
   *
   * @throws {PetStoreError} `invalid_option` if a later release has migrated the tables;
   * `service_unavailable` if D1 cannot be reached
   */
  migrate(): Promise<void>
}

const d1Options = optionsOf<D1Options>({ ...keyShape, clock: z.optional(clock) })

/**
 * Stores animals, keys and request counters in Cloudflare D1, for any number of Workers. Each
 * operation is one round trip.
 *
 * Create the pet store once for all requests of an isolate. The names of the tables begin with
 * `petstore_`.
 *
 * @param database - a D1 binding, such as `env.DB`
 * @throws {PetStoreError} `invalid_option`, with the name of the option
 * @example
 * ```ts
 * import { createPetStore, type PetStore } from 'petstore-kit'
 * import { type D1Database, d1 } from 'petstore-kit/d1'
 *
 * let petStore: PetStore | undefined
 * export default {
 *   fetch(request: Request, env: { DB: D1Database }) {
 *     petStore ??= createPetStore({ ...d1(env.DB) })
 *     return petStore.fetch(request)
 *   },
 * }
 * ```
 */
export function d1(database: D1Database, given: D1Options = {}): D1BackEnd {
  const options = parseOptions(d1Options, given)
  const { clock } = options
  const engine = engineOf(database)
  const run: RunOne = (name, ...values) => engine.run(statements[name], ...values)
  const transact: RunAll = (commands) =>
    engine.transact(commands.map(([name, ...values]) => [statements[name], ...values]))
  return {
    storage: tableStorage({ read: run, transact, hash: hashIdempotency, clock }),
    keyStore: databaseKeys(options, run, run, clock),
    quota: d1Quota(engine, clock),
    migrate: () => migrateD1(engine),
  }
}
