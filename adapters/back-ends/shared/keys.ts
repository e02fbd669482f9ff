import * as z from 'zod/mini'
import { hashToken, isMistyped, keyChanges, newKey, newKeyIds } from '../../../src/back-end.ts'
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
import { newKeyWithoutToken } from '../../../src/keys/new-key.ts'
import { newToken } from '../../../src/keys/token.ts'
import type { Shape } from '../../../src/schemas/expected.ts'
import { systemClock } from '../../../src/support/time.ts'

/** The options of every back end that stores keys. */
export interface KeyOptions {
  /**
   * How API keys are cached in this process; `false` turns the cache off.
   * @default { ttl: 30000, max: 10000 }
   */
  readonly keyCache?: KeyCacheOptions | false | undefined
}

export const keyShape = { keyCache: z.optional(keyCache) } satisfies Shape<KeyOptions>

/** Runs a statement by its name. Returns its rows. */
export type Run<Name extends string> = (
  name: Name,
  ...values: (string | number | null)[]
) => MaybePromise<readonly unknown[]>

type RunKeys = Run<
  | 'findKey'
  | 'getKey'
  | 'listKeys'
  | 'listKeysOfAccount'
  | 'addKey'
  | 'updateKey'
  | 'rotateKey'
  | 'suspendKey'
  | 'resumeKey'
  | 'revokeKey'
  | 'removeKey'
  | 'recordKeyUse'
>

/**
 * Tokens never leave the process: the database gets only their SHA-256 hashes.
 * @param clock - the clock of a test; `undefined` for the clock of the database
 */
export function databaseKeys(
  { keyCache = {} }: KeyOptions,
  read: RunKeys,
  write: RunKeys,
  clock: Clock | undefined,
): ManagedKeyStore {
  const now = () => clock?.now() ?? null
  const newId = newKeyIds()
  // The time in an id is of this process, because the database makes no ids.
  const idTime = () => (clock ?? systemClock).now()

  async function add(hash: string, { id, ...members }: ApiKey): Promise<ApiKey | undefined> {
    const { plan, account, label, limits, access, expiresAt } = members
    const values = [id, hash, plan, account, label, limits?.perMinute, limits?.perDay, access, expiresAt, now()]
    return toKeys(await write('addKey', ...values.map((value) => value ?? null)))[0]
  }

  const store: ManagedKeyStore = {
    async find(token) {
      if (isMistyped(token)) return undefined
      return toKeys(await read('findKey', await hashToken(token), now()))[0]
    },
    async issue(options) {
      const { token, hash, key } = await newKey(options, idTime(), newId)
      const issued = await add(hash, key)
      if (issued === undefined)
        throw new Error('the database added no key, and reported no error: look for a trigger on its table')
      return { token, key: issued }
    },
    adopt: async (tokenSha256, options) => add(tokenSha256, newKeyWithoutToken(options, idTime(), newId)),
    get: async (id) => toKeys(await read('getKey', id))[0],
    async list({ limit, after = '', account, state = null }) {
      const rows =
        account === undefined
          ? await read('listKeys', now(), after, state, limit)
          : await read('listKeysOfAccount', now(), account, after, state, limit)
      return toKeys(rows)
    },
    async update(id, changes) {
      const { limits, ...rest } = Object.fromEntries(keyChanges(changes)) as KeyChanges
      const columns = limits === undefined ? rest : { ...rest, perMinute: null, perDay: null, ...limits }
      return toKeys(await write('updateKey', JSON.stringify(columns), id))[0]
    },
    async rotate(id, { overlapSeconds }) {
      const token = newToken()
      const overlap = overlapSeconds > 0 ? overlapSeconds * 1_000 : null
      const [key] = toKeys(await write('rotateKey', await hashToken(token), overlap, now(), id))
      return key && { token, key }
    },
    suspend: async (id) => toKeys(await write('suspendKey', now(), id))[0],
    resume: async (id) => toKeys(await write('resumeKey', id))[0],
    revoke: async (id) => (await write('revokeKey', now(), id)).length > 0,
    remove: async (id) => (await write('removeKey', now(), id)).length > 0,
    async recordUse(ids, day) {
      await write('recordKeyUse', day, JSON.stringify(ids))
    },
  }
  return keyCache === false ? store : cachedKeyStore(store, { clock, ...keyCache })
}

function toKeys(rows: readonly unknown[]): ApiKey[] {
  return (rows as { readonly json: string }[]).map(({ json }) => Object.freeze(JSON.parse(json)))
}
