import type { ApiKey, NewPet, Pet, PetStatus, PlanLimits } from './model.ts'

/** A value, or a promise of this value. */
export type MaybePromise<T> = T | Promise<T>

/** A source of the time. */
export interface Clock {
  /** Returns milliseconds since the Unix epoch. The time may step back. */
  now(): number
  /**
   * Returns milliseconds, with fractions, of a clock that never steps back. `onResponse` measures durations by it.
   * @default `performance.now()`
   */
  monotonic?(): number
}

/** Describes the request for which a port is called. */
export interface CallContext {
  /** Aborts when the client disconnects or the call exceeds its time limit, so that the port can stop its work. */
  readonly signal?: AbortSignal | undefined
  /** The client's address, if the adapter knows it. */
  readonly clientAddress?: string | undefined
}

/**
 * The idempotency key of one request to add an animal.
 *
 * A database stores only the hashes that `hashIdempotency` of `petstore-kit/back-end` returns, because keys and names of animals
 * may be personal data.
 */
export interface Idempotency {
  /** Whose key it is: the subject of the quota, such as `account:acme`. The same key of two scopes is two keys. */
  readonly scope: string
  /** The key, as the client has chosen it: 1 to 255 visible ASCII characters or spaces. */
  readonly key: string
  /** Text that is equal for equal animals, and differs for different ones. */
  readonly fingerprint: string
}

/** The result of `createOnce`. */
export interface CreatedPet extends Pet {
  /**
   * Set only if the idempotency key had been used, so that nothing was added. `id` is then the id of the animal that the first
   * request has added, and `earlier` says whether the fingerprints of both requests are the `same` or `different`.
   */
  readonly earlier?: 'same' | 'different' | null | undefined
}

/** Selects the animals of one page. */
export interface PetQuery {
  /** The largest number of animals: a whole number, at least 1. */
  readonly limit: number
  /** Select only animals with an id greater than this id. */
  readonly after?: bigint | undefined
  /** Select only animals with this status. */
  readonly status?: PetStatus | undefined
}

/**
 * Stores the animals.
 *
 * If the database cannot be reached, throw a {@link PetStoreError} with the code `service_unavailable`, or an error with a
 * connection code such as `ECONNREFUSED`: the client gets 503. After any other error, the client gets 500.
 */
export interface PetStorage {
  /**
   * Returns the first `limit` animals by ascending id that match the query.
   *
   * An animal whose `create` has not returned yet may be missing. Then every animal with a greater id must be missing too, because
   * a client that reads page by page would otherwise skip the first animal.
   */
  list(query: PetQuery, context?: CallContext): MaybePromise<readonly Pet[]>
  /**
   * Adds an animal. Its id must be at least 1, and greater than every id that `list` has returned. It must be durable when the call
   * returns.
   */
  create(pet: NewPet, context?: CallContext): MaybePromise<Pet>
  /**
   * Adds an animal and its idempotency key, as `create` does, unless the scope has used the key within 48 hours. The animal and its
   * key become durable together, and of several calls at the same time, one adds the animal.
   *
   * @default requests with `Idempotency-Key` get 400
   */
  readonly createOnce?:
    | ((pet: NewPet, idempotency: Idempotency, context?: CallContext) => MaybePromise<CreatedPet>)
    | undefined
  /** Returns the animal with this id, or `undefined` or `null` if there is none. */
  get(id: bigint, context?: CallContext): MaybePromise<Pet | null | undefined>
}

/** Finds the API key for a token. To use credentials of your own, implement only this interface. */
export interface KeyStore {
  /**
   * Returns the valid key for a token, or `undefined` or `null` if the token is unknown, revoked or expired.
   *
   * The token is what the client has sent. Only its characters have been checked (RFC 9110, section 11.2: token68).
   */
  find(token: string, context?: CallContext): MaybePromise<ApiKey | null | undefined>
}

/** The options of a new key. */
export interface IssueOptions {
  /** The plan: `free`, `pro`, `business`, `enterprise` (which needs `limits`), or a plan of your own. */
  readonly plan: string
  /** Keys with the same account share one allowance. @default an allowance of its own */
  readonly account?: string | undefined
  /** Limits for this key only. @default the limits of the plan */
  readonly limits?: PlanLimits | undefined
  /** A note that is shown in the list of keys. @default none */
  readonly label?: string | undefined
  /** When the key expires, in milliseconds since the Unix epoch. @default never */
  readonly expiresAt?: number | undefined
}

/** The changes of a key. A member that is missing or `undefined` does not change; `null` removes it from the key. */
export interface KeyChanges {
  /** The plan. Limits of the key itself stay until `limits` is `null`. A plan that needs `limits` is changed together with them. */
  readonly plan?: string | undefined
  /** The account. The key then counts in the allowance of this account, from the next request on. */
  readonly account?: string | null | undefined
  /** Limits for this key only; `null`, together with `plan`, for the limits of this plan. */
  readonly limits?: PlanLimits | null | undefined
  /** A note that is shown in the list of keys. */
  readonly label?: string | null | undefined
  /** When the key expires, in milliseconds since the Unix epoch. */
  readonly expiresAt?: number | null | undefined
}

/** A new key with its token. The token is not shown again. */
export interface IssuedKey {
  /** The bearer token. Back ends keep only its SHA-256. */
  readonly token: string
  /** The key without its token. */
  readonly key: ApiKey
}

/** A key store that also issues, changes, revokes and lists keys. */
export interface ManagedKeyStore extends KeyStore {
  /** Returns the valid key for a token, or `undefined`. */
  find(token: string, context?: CallContext): MaybePromise<ApiKey | undefined>
  /** Issues a key. @throws {PetStoreError} `invalid_option`, with the name of the option */
  issue(options: IssueOptions): Promise<IssuedKey>
  /**
   * Changes a key and returns it as it is now. Returns `undefined` if there is no such key, or if it is revoked.
   * @throws {PetStoreError} `invalid_option`, with the name of the option
   */
  update(id: string, changes: KeyChanges): Promise<ApiKey | undefined>
  /** Revokes the key with this id at once. Returns `false` if there is no such key, or if it was revoked before. */
  revoke(id: string): Promise<boolean>
  /** Returns every key ever issued, the oldest first, including revoked keys. */
  list(): Promise<readonly ApiKey[]>
}

/** When and for how long a key or account is banned. */
export interface BanRule {
  /** How many refusals within one minute start a ban: a whole number, at least 1. */
  readonly afterRefusals: number
  /** Length of a ban, in seconds: a whole number, at least 1. */
  readonly seconds: number
}

/** One request to count. */
export interface QuotaRequest {
  /** The name of the counter, such as `account:acme`. Any string. */
  readonly subject: string
  /**
   * True if `subject` is a client address. Store the counts of addresses separately and limit their number: the addresses of an
   * attack must not push out the count of a customer.
   */
  readonly anonymous: boolean
  /** The limits that apply. */
  readonly limits: PlanLimits
  /** The rule for bans, or `false` for none. */
  readonly ban: BanRule | false
  /** The time of the option `clock`, in milliseconds since the Unix epoch. A store on a shared server uses the server's clock. */
  readonly now: number
}

/** The counts of a subject after one request. All times are in milliseconds since the Unix epoch, from the same clock. */
export interface QuotaCount {
  /** Whether the request may be served. If true, the request has been counted in both windows; if false, in neither. */
  readonly granted: boolean
  /** The time of the quota store when it decided. */
  readonly now: number
  /** Requests served in this minute, including this one. */
  readonly usedInMinute: number
  /** When the minute's window ends. */
  readonly minuteEndsAt: number
  /** Requests served on this day, including this one. */
  readonly usedInDay: number
  /** When the day's window ends. */
  readonly dayEndsAt: number
  /** When the ban ends; 0 for no ban. */
  readonly bannedUntil: number
}

/**
 * Counts requests.
 *
 * `spend` is one atomic step: if two calls compete for the last request, only one is granted. Every store must count as
 * {@link countRequest} does; a store may implement the same rules in SQL or Lua.
 */
export interface QuotaStore {
  /**
   * Counts a request in both windows, or refuses it and counts it in neither. `context.signal` aborts only at the time limit: a
   * request is counted even if its client disconnects.
   */
  spend(request: QuotaRequest, context?: CallContext): MaybePromise<QuotaCount>
}

/** The three ports of a whole back end, as `createPetStore` accepts them. */
export interface BackEnd {
  /** Stores the animals. */
  readonly storage: PetStorage
  /** Finds the API key for a token. */
  readonly keyStore: KeyStore
  /** Counts requests. */
  readonly quota: QuotaStore
}

/** A back end whose key store also issues keys, as `memory` and the databases of this package return it. */
export interface ManagedBackEnd extends BackEnd {
  /** Finds, issues, changes, revokes and lists keys. Only the SHA-256 of a token is stored. */
  readonly keyStore: ManagedKeyStore
}
