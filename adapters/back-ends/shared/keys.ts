import * as z from 'zod/mini'
import { hashToken, isToken, keyChanges, newKey } from '../../../src/back-end.ts'
import {
  type ApiKey,
  type Clock,
  cachedKeyStore,
  type KeyCacheOptions,
  type KeyChanges,
  type ManagedKeyStore,
  type MaybePromise,
} from '../../../src/index.ts'
import { keyCache } from '../../../src/keys/key-cache.ts'
import type { Shape } from '../../../src/schemas/expected.ts'
import { planNames } from '../../../src/schemas/key.ts'

/** The options of every back end that stores keys. */
export interface KeyOptions {
  /**
   * How API keys are cached in this process; `false` turns the cache off.
   * @default { ttl: 30000, max: 10000 }
   */
  readonly keyCache?: KeyCacheOptions | false | undefined
  /**
   * The names of your own plans, which `issue` accepts besides `free`, `pro` and `business`.
   * @default []
   */
  readonly plans?: readonly string[] | undefined
}

export const keyShape = { keyCache: z.optional(keyCache), plans: z.optional(planNames) } satisfies Shape<KeyOptions>

/** Runs a statement by its name. Returns its rows. */
export type Run<Name extends string> = (
  name: Name,
  ...values: (string | number | null)[]
) => MaybePromise<readonly unknown[]>

type RunKeys = Run<'key' | 'keys' | 'addKey' | 'changeKey' | 'revokeKey'>

/**
 * Tokens never leave the process: the database gets only their SHA-256 hashes.
 * @param clock - the clock of a test; `undefined` for the clock of the database
 */
export function databaseKeys(
  { keyCache = {}, plans }: KeyOptions,
  read: RunKeys,
  write: RunKeys,
  clock: Clock | undefined,
): ManagedKeyStore {
  const now = () => clock?.now() ?? null
  const store: ManagedKeyStore = {
    async find(token) {
      if (!isToken(token)) return undefined
      return toKeys(await read('key', await hashToken(token), now()))[0]
    },
    async issue(options) {
      // The creation time 0 is not stored: `addKey` stores the time of the test's clock or of the
      // database.
      const { token, hash, key } = await newKey(options, 0, plans)
      const { id, plan, account, label, limits, expiresAt } = key
      const values = [id, hash, plan, account, label, limits?.perMinute, limits?.perDay, expiresAt, now()]
      const [issued] = toKeys(await write('addKey', ...values.map((value) => value ?? null)))
      if (issued === undefined)
        throw new Error('the database added no key, and reported no error: look for a trigger on its table')
      return { token, key: issued }
    },
    async update(id, changes) {
      const { limits, ...rest } = Object.fromEntries(keyChanges(changes, plans)) as KeyChanges
      const columns = limits === undefined ? rest : { ...rest, perMinute: null, perDay: null, ...limits }
      return toKeys(await write('changeKey', JSON.stringify(columns), id))[0]
    },
    revoke: async (id) => (await write('revokeKey', now(), id)).length > 0,
    list: async () => toKeys(await read('keys')),
  }
  return keyCache === false ? store : cachedKeyStore(store, { clock, ...keyCache })
}

function toKeys(rows: readonly unknown[]): ApiKey[] {
  return (rows as { readonly json: string }[]).map(({ json }) => Object.freeze(JSON.parse(json)))
}
