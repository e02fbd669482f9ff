import { PetStoreError } from '../errors.ts'
import { type ApiKey, defaultPlans, type KeyState } from '../model.ts'
import type {
  AdoptOptions,
  Clock,
  IssuedKey,
  IssueOptions,
  KeyChanges,
  KeyQuery,
  KeyStore,
  ManagedKeyStore,
  QuotaStore,
  RotateOptions,
} from '../ports.ts'
import type { QuotaRules } from '../quota/rate-limit.ts'
import { apiKey, type Usage, usageFunctions } from '../quota/usage.ts'
import { keyChanges, keyFilter, keyId, keyQuery, MAX_KEYS, newKeyOptions, rotateOptions } from '../schemas/key.ts'
import { LIMITS } from '../schemas/limits.ts'
import { invalidOption } from '../schemas/options.ts'
import { parseOption, parseOptions } from '../schemas/parse-options.ts'

/** Selects keys of {@link Keys.all}. */
export interface KeyFilter {
  /** Select only keys of this account. @default keys of every account */
  readonly account?: string | undefined
  /** Select only keys in this state. @default keys in every state, also those that have ended */
  readonly state?: KeyState | undefined
}

/**
 * The API keys, for the program that embeds the store. Every argument is checked by the rules and the plans of the
 * store, and every call has its time limit. A change takes effect at once for requests through this back end, and in other
 * processes when their key cache ends, after 30 seconds by default.
 *
 * Each call may reject with a {@link PetStoreError}: `invalid_option` for a wrong argument, `key_not_found` for
 * an unknown id, `keys_not_supported` if the key store only finds keys, and `service_unavailable` after the time limit.
 * It passes other errors of the key store on.
 */
export interface Keys {
  /**
   * Issues a key. Its token is not shown again.
   * @example
   * ```ts
   * import { createPetStore } from 'petstore-kit'
   *
   * const { keys } = createPetStore()
   * const { token, key } = await keys.issue({ plan: 'pro', account: 'acme', expiresAt: '2030-01-31' })
   * console.log(token.length, key.account) // 53 acme
   * ```
   */
  issue(options: IssueOptions & { readonly tokenSha256?: undefined }): Promise<IssuedKey>
  /**
   * Adds a key for a token that a customer uses already, without knowing the token.
   * @throws {PetStoreError} `key_exists` if a key has this token already
   */
  issue(options: AdoptOptions): Promise<Pick<IssuedKey, 'key'>>
  /** Returns the key with this id, also if it has ended, or `undefined`. */
  get(id: string): Promise<ApiKey | undefined>
  /**
   * Returns one page of keys, also of those that have ended. The oldest key comes first. For the next page, pass the last id
   * as `after`. A page has 100 keys by default, and at most 1000.
   */
  list(query?: KeyQuery): Promise<readonly ApiKey[]>
  /** Iterates over all keys, the oldest first. Reads a page when it is needed, so keys may be changed and removed meanwhile. */
  all(filter?: KeyFilter): AsyncGenerator<ApiKey, void, undefined>
  /**
   * Changes a key, whose token stays the same. `null` removes a member from the key.
   * @throws {PetStoreError} `key_revoked`
   */
  update(id: string, changes: KeyChanges): Promise<ApiKey>
  /**
   * Gives a key a new token, which is not shown again. The previous token stays valid for `overlapSeconds`;
   * with 0, it ends at once. A key has at most two tokens: a rotation during an overlap ends the older one. Both tokens have the
   * same id, so they share counts and idempotency keys.
   * @throws {PetStoreError} `key_revoked`
   */
  rotate(id: string, options?: RotateOptions): Promise<IssuedKey>
  /** Suspends a key: its requests get 401 until it is resumed. @throws {PetStoreError} `key_revoked` */
  suspend(id: string): Promise<ApiKey>
  /** Ends the suspension of a key. @throws {PetStoreError} `key_revoked` */
  resume(id: string): Promise<ApiKey>
  /** Revokes a key for ever, and returns it. A key that is revoked already stays as it is. */
  revoke(id: string): Promise<ApiKey>
  /** Deletes a key that has expired or is revoked. @throws {PetStoreError} `key_not_ended` */
  remove(id: string): Promise<void>
  /**
   * Returns what a key has used of its limits, without counting a request. Takes an id, or the key itself.
   * @throws {PetStoreError} `usage_not_supported` if the quota store has no `peek`; `invalid_option`
   * if neither the key nor its plan has limits
   */
  usage(key: string | ApiKey): Promise<Usage>
  /**
   * Ends the ban of a key, and lets both of its counts begin at zero, in all processes within five
   * seconds. For keys of one account, it does so for all of them.
   * @throws {PetStoreError} `usage_not_supported` if the quota store has no `reset`
   */
  resetUsage(key: string | ApiKey): Promise<void>
}

interface HostKeysParts {
  readonly keyStore: KeyStore
  readonly quota: QuotaStore
  readonly rules: QuotaRules
  readonly clock: Clock
}

/** Returns the keys of a store, for its host. */
export function hostKeys({ keyStore, quota, rules, clock }: HostKeysParts): Keys {
  const { usage, resetUsage } = usageFunctions(quota, rules, clock)

  /** Returns a method of the key store, or throws if the key store only finds keys. */
  function managed<Name extends keyof ManagedKeyStore>(name: Name): ManagedKeyStore[Name] {
    const method = (keyStore as Partial<ManagedKeyStore>)[name]
    if (typeof method === 'function') return method as ManagedKeyStore[Name]
    const message = `option keyStore: expected a key store with the method ${name}; add it to your key store`
    throw new PetStoreError('keys_not_supported', message)
  }

  async function issue(options: IssueOptions & Partial<AdoptOptions>): Promise<{ token?: string; key: ApiKey }> {
    const { tokenSha256, ...given } = parseOptions(newKeyOptions, options)
    if (given.limits === undefined) requireLimitsOf(given.plan, rules)
    if (tokenSha256 === undefined) return managed('issue')(given)
    const key = await managed('adopt')(tokenSha256, given)
    if (key === undefined) throw new PetStoreError('key_exists', 'A key with this token exists already.')
    return { key }
  }

  async function get(id: string): Promise<ApiKey | undefined> {
    return (await managed('get')(parseOption('id', keyId, id))) ?? undefined
  }

  /** Returns the result of a change. Without one, throws an error that says why. */
  async function changed<T>(id: string, change: () => Promise<T | undefined>): Promise<T> {
    const result = await change()
    if (result != null) return result
    if ((await get(id)) === undefined) throw notFound(id)
    throw new PetStoreError('key_revoked', `The ${named(id)} is revoked, so it cannot be changed.`)
  }

  async function keyOf(given: string | ApiKey): Promise<ApiKey> {
    if (typeof given !== 'string') return parseOption('key', apiKey, given)
    const key = await get(given)
    if (key === undefined) throw notFound(given)
    return key
  }

  async function* all(filter: KeyFilter): AsyncGenerator<ApiKey, void, undefined> {
    const list = managed('list')
    let after: string | undefined
    let page: readonly ApiKey[]
    do {
      page = await list({ limit: MAX_KEYS, after, ...filter })
      yield* page
      after = page.at(-1)?.id
    } while (page.length === MAX_KEYS)
  }

  return {
    issue: issue as Keys['issue'],
    get,
    async list(query = {}) {
      const { limit = PAGE_SIZE, ...others } = parseOptions(keyQuery, query)
      return managed('list')({ limit, ...others })
    },
    all: (filter = {}) => all(parseOptions(keyFilter, filter)),
    async update(id, given) {
      const checkedId = parseOption('id', keyId, id)
      const changes = parseOption('changes', keyChanges, given)
      requireLimitsAfter(changes, rules)
      return changed(checkedId, () => managed('update')(checkedId, changes))
    },
    async rotate(id, options = {}) {
      const checkedId = parseOption('id', keyId, id)
      const { overlapSeconds = 0 } = parseOptions(rotateOptions, options)
      return changed(checkedId, () => managed('rotate')(checkedId, { overlapSeconds }))
    },
    async suspend(id) {
      const checkedId = parseOption('id', keyId, id)
      return changed(checkedId, () => managed('suspend')(checkedId))
    },
    async resume(id) {
      const checkedId = parseOption('id', keyId, id)
      return changed(checkedId, () => managed('resume')(checkedId))
    },
    async revoke(id) {
      await managed('revoke')(parseOption('id', keyId, id))
      return keyOf(id)
    },
    async remove(id) {
      if (await managed('remove')(parseOption('id', keyId, id))) return
      if ((await get(id)) === undefined) throw notFound(id)
      const message = `The ${named(id)} has not ended: revoke it first, and remove it when nobody needs to see it any more.`
      throw new PetStoreError('key_not_ended', message)
    },
    usage: async (key) => usage(await keyOf(key)),
    resetUsage: async (key) => resetUsage(await keyOf(key)),
  }
}

/** How many keys a page of `list` has by default. */
const PAGE_SIZE = 100

/** Shows only an id of the form that this package gives. Anything else may be a token. */
function named(id: string): string {
  return /^key_[0-9A-Za-z]{17}$/.test(id) ? `key ${id}` : 'key with this id'
}

function notFound(id: string): PetStoreError {
  return new PetStoreError('key_not_found', `There is no ${named(id)}.`)
}

function requireLimitsAfter({ plan, limits }: KeyChanges, rules: QuotaRules): void {
  if (plan !== undefined && limits == null) requireLimitsOf(plan, rules)
  // The stored key is not read, and its plan may have no limits.
  if (plan === undefined && limits === null)
    throw invalidOption('plan', 'a plan, because a key without its own limits needs one', plan)
}

/** Throws if the plan has no limits: a key of this plan needs `limits` of its own. */
function requireLimitsOf(plan: string, { plans }: QuotaRules): void {
  if (Object.hasOwn(plans, plan)) return
  if (plan === 'enterprise')
    throw invalidOption(
      'limits',
      `${LIMITS}, for the plan enterprise, unless the option plans has limits for it`,
      undefined,
    )
  const known = [...new Set([...Object.keys(defaultPlans), ...Object.keys(plans)])]
  const advice = `to add a plan, pass plans: { ${JSON.stringify(plan)}: { perMinute, perDay } } to createPetStore`
  throw invalidOption('plan', `one of the plans ${known.join(', ')}, unless the key has limits (${advice})`, plan)
}
