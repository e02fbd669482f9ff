import type { ApiKey, KeyAccess, KeyState, Pet, PetChanges, PetMembers, PetStatus, PlanLimits } from './model.ts'
import type { OperationName } from './operations.ts'

/** A value, or a promise of it. */
export type MaybePromise<T> = T | Promise<T>

/** A source of the time. */
export interface Clock {
  /** Returns milliseconds since the Unix epoch. The time may step back. */
  now(): number
  /**
   * Returns milliseconds of a clock that never steps back, for the durations in reports.
   * @default `performance.now()`
   */
  monotonic?(): number
}

/** What a port may know about the request. */
export interface CallContext {
  /**
   * Aborts when the client disconnects or the call exceeds its time limit, so that the port can
   * stop its work.
   */
  readonly signal?: AbortSignal | undefined
  /** The client's address, if the adapter knows it. */
  readonly clientAddress?: string | undefined
  /**
   * The API key of the request, as `find` has returned it. `undefined` in `find` itself, in a quota
   * store, and for a call of the host, such as `petStore.pets.add`.
   */
  readonly key?: ApiKey | undefined
  /**
   * The operation of the request. `undefined` if its path or method has none, in a quota store, and
   * for a call of the host.
   */
  readonly operation?: OperationName | undefined
}

/**
 * The idempotency key of one request to add an animal. A database should store only the hashes from
 * `hashIdempotency` of `petstore-kit/back-end`, because keys and names may be personal data.
 */
export interface Idempotency {
  /**
   * The sender of the key: the subject of the quota, such as `account:acme`. Two scopes may use
   * equal keys for two animals.
   */
  readonly scope: string
  /** The key that the client has chosen: 1 to 255 visible ASCII characters or spaces. */
  readonly key: string
  /** Text that is equal if clients have sent equal animals, and differs for different ones. */
  readonly fingerprint: string
}

/** The options of `create`. */
export interface CreateOptions {
  /** The idempotency key of the request. @default the animal is added without one */
  readonly idempotency?: Idempotency | undefined
}

/** The result of `create`. */
export interface CreatedPet extends Pet {
  /**
   * Set only if an earlier request with this key has added an animal, which has the returned `id`.
   * `earlier` says whether the fingerprints of both requests are the `same` or `different`. This
   * request has added nothing.
   */
  readonly earlier?: 'same' | 'different' | null | undefined
}

/** The options of `update` and `remove`. */
export interface ChangeOptions {
  /** The call has an effect only if the animal has these values. @default no condition */
  readonly if?: PetChanges | undefined
}

/** The result of `update` and `remove`. */
export interface ChangedPet {
  /** Whether the animal was changed or removed. `false` if it did not have the values of `if`. */
  readonly applied: boolean
  /** The animal after `update`, before `remove`, or as it is if nothing was applied. */
  readonly pet: Pet
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
 * Stores the animals. If the database cannot be reached, throw a {@link PetStoreError} with the
 * code `service_unavailable`, or an error with a connection code such as `ECONNREFUSED`: the client
 * gets 503. After any other error, the client gets 500.
 */
export interface PetStorage {
  /**
   * Returns the first `limit` animals by ascending id that match the query. An animal may be
   * missing while its `create` runs. Then all animals with greater ids must be missing too:
   * otherwise, a client that reads page by page never gets the missing animal.
   */
  list(query: PetQuery, context?: CallContext): MaybePromise<readonly Pet[]>
  /**
   * Adds an animal, and returns it when it is durable. Its id must be at least 1, and above every
   * id that `list` has returned.
   *
   * With `options.idempotency`, it adds nothing if this scope has used the key within 48 hours. The
   * animal and the key become durable together. If several calls have the same key at the same
   * time, only one adds its animal.
   */
  create(pet: PetMembers, options?: CreateOptions, context?: CallContext): MaybePromise<CreatedPet>
  /** Returns the animal with this id, or `undefined` or `null` if there is none. */
  get(id: bigint, context?: CallContext): MaybePromise<Pet | null | undefined>
  /**
   * Changes an animal in one atomic step, and returns it when the change is durable: if several calls
   * with `options.if` compete, only one is applied. Returns `undefined` or `null` if there is no animal
   * with this id.
   * @default `petStore.pets.update` rejects
   */
  readonly update?:
    | ((
        id: bigint,
        changes: PetChanges,
        options?: ChangeOptions,
        context?: CallContext,
      ) => MaybePromise<ChangedPet | null | undefined>)
    | undefined
  /**
   * Removes an animal in one atomic step. Its id is never given again, and a repeat of the idempotency
   * key that added it still gets it as it was added. Returns `undefined` or `null` if there is no
   * animal with this id.
   * @default `petStore.pets.remove` rejects
   */
  readonly remove?:
    | ((id: bigint, options?: ChangeOptions, context?: CallContext) => MaybePromise<ChangedPet | null | undefined>)
    | undefined
  /**
   * Adds animals with the ids that they have, all or none. If an id exists, its animal stays as it is;
   * such ids are returned. Later calls of `create` give ids above all of these.
   * @default animals cannot be imported with their ids
   */
  readonly restore?: ((pets: readonly Pet[], context?: CallContext) => MaybePromise<readonly bigint[]>) | undefined
  /**
   * Returns the number of animals with this status, or of all animals.
   * @default `petStore.pets.count` reads all pages
   */
  readonly count?: ((status?: PetStatus, context?: CallContext) => MaybePromise<number>) | undefined
}

/** Finds the API key for a token. To use credentials of your own, implement only this interface. */
export interface KeyStore {
  /**
   * Returns the key for a token, or `undefined` or `null` if the token is unknown. A key that is
   * revoked or suspended, or has expired, may be returned with the time: its request gets 401. The
   * token comes from the client: only its characters have been checked (RFC 9110, section 11.2:
   * token68).
   *
   * To reject a token in your own words, throw a {@link PetStoreError} with a code of your own and
   * the status 401 or 403. The client gets its code and message, and its request is counted by its
   * address.
   */
  find(token: string, context?: CallContext): MaybePromise<ApiKey | null | undefined>
}

/** The options of a new key. */
export interface IssueOptions {
  /**
   * The plan: `free`, `pro`, `business`, `enterprise` (which needs `limits`), or a plan of your
   * own.
   */
  readonly plan: string
  /** Keys with the same account are counted together. @default the key is counted alone */
  readonly account?: string | undefined
  /** Limits for this key only. @default the limits of the plan */
  readonly limits?: PlanLimits | undefined
  /** A note that is shown in the list of keys. @default none */
  readonly label?: string | undefined
  /** Whether the key can only read animals, or also add them. @default 'write' */
  readonly access?: KeyAccess | undefined
  /** When the key expires. @default never */
  readonly expiresAt?: TimeInput | undefined
}

/**
 * A time: milliseconds since the Unix epoch, a `Date`, or a text such as `2030-01-31` (the start of this
 * UTC day) or `2030-01-31T12:00Z`.
 */
export type TimeInput = number | Date | string

/** The options of a key whose token a customer uses already. */
export interface AdoptOptions extends IssueOptions {
  /** The SHA-256 of the token, in hexadecimal. The token may have any form that a bearer token can have. */
  readonly tokenSha256: string
}

/**
 * The changes of a key. A member that is absent or `undefined` does not change; `null` removes it
 * from the key.
 */
export interface KeyChanges {
  /**
   * The plan. The key keeps its own `limits` unless the call has `limits` too. The plan
   * `enterprise` requires `limits`.
   */
  readonly plan?: string | undefined
  /**
   * The account. From the next request on, the key is counted together with the keys of this
   * account.
   */
  readonly account?: string | null | undefined
  /** Limits for this key only; `null` removes them, and requires `plan` in the same call. */
  readonly limits?: PlanLimits | null | undefined
  /** A note that is shown in the list of keys. */
  readonly label?: string | null | undefined
  /** Whether the key can only read animals. */
  readonly access?: KeyAccess | null | undefined
  /** When the key expires. */
  readonly expiresAt?: TimeInput | null | undefined
}

/** Selects the keys of one page. */
export interface KeyQuery {
  /** The largest number of keys: a whole number, at least 1. */
  readonly limit?: number | undefined
  /** Select only keys whose id is greater, compared character by character. */
  readonly after?: string | undefined
  /** Select only keys of this account. */
  readonly account?: string | undefined
  /** Select only keys in this state. */
  readonly state?: KeyState | undefined
}

/** The options of a rotation. */
export interface RotateOptions {
  /**
   * How long the previous token stays valid, in seconds: a whole number, at most a year. With 0, it ends at
   * once. @default 0
   */
  readonly overlapSeconds?: number | undefined
}

/** A new key with its token. The token is not shown again. */
export interface IssuedKey {
  /** The bearer token. A database stores only its SHA-256; `memory` keeps the token. */
  readonly token: string
  /** The key without its token. */
  readonly key: ApiKey
}

/**
 * A key store that also issues, changes and lists keys, as `petStore.keys` needs it. Each id is greater
 * than those that this process has issued before, so that keys in the order of their ids are in the order of their issue:
 * `newKeyIds` of `petstore-kit/back-end` makes such ids.
 */
export interface ManagedKeyStore extends KeyStore {
  /** Returns the valid key for a token, or `undefined`. */
  find(token: string, context?: CallContext): MaybePromise<ApiKey | undefined>
  /** Issues a key of any plan. @throws {PetStoreError} `invalid_option`, with the name of the option */
  issue(options: IssueOptions, context?: CallContext): Promise<IssuedKey>
  /**
   * Adds a key for the token with this SHA-256, in lower-case hexadecimal. Returns `undefined`, and adds
   * nothing, if a key has this token.
   * @throws {PetStoreError} `invalid_option`, with the name of the option
   */
  adopt(tokenSha256: string, options: IssueOptions, context?: CallContext): Promise<ApiKey | undefined>
  /** Returns the key with this id, also if it has ended; `undefined` if the id is unknown. */
  get(id: string, context?: CallContext): MaybePromise<ApiKey | undefined>
  /** Returns the first `limit` keys by ascending id that match the query, also keys that have ended. */
  list(query: KeyQuery & { readonly limit: number }, context?: CallContext): Promise<readonly ApiKey[]>
  /**
   * Changes and returns a key; `undefined` if the id is unknown or revoked.
   * @throws {PetStoreError} `invalid_option`
   */
  update(id: string, changes: KeyChanges, context?: CallContext): Promise<ApiKey | undefined>
  /**
   * Gives a key a new token, and returns both. The token before it stays valid for `overlapSeconds`, and
   * any token before that one ends at once. Returns `undefined` if the id is unknown or revoked.
   */
  rotate(
    id: string,
    options: { readonly overlapSeconds: number },
    context?: CallContext,
  ): Promise<IssuedKey | undefined>
  /** Suspends and returns a key; `undefined` if the id is unknown or revoked. */
  suspend(id: string, context?: CallContext): Promise<ApiKey | undefined>
  /** Ends a suspension, and returns the key; `undefined` if the id is unknown or revoked. */
  resume(id: string, context?: CallContext): Promise<ApiKey | undefined>
  /**
   * Immediately revokes the key with this id. Returns `false` if the id is unknown, or if the key
   * was already revoked.
   */
  revoke(id: string, context?: CallContext): Promise<boolean>
  /** Deletes a key that has expired or is revoked. Returns `false`, and deletes nothing, for any other id. */
  remove(id: string, context?: CallContext): Promise<boolean>
  /**
   * Stores that requests with these keys have come on this UTC day, such as `2030-01-31`, unless a later
   * day is stored.
   */
  recordUse(ids: readonly string[], day: string, context?: CallContext): Promise<void>
}

/** When and for how long a key or account is banned. */
export interface BanRule {
  /** How many refusals within one minute start a ban: a whole number, at least 1. */
  readonly afterRefusals: number
  /** Length of a ban, in seconds: a whole number, at least 1. */
  readonly seconds: number
}

/** The counter of one customer or one client address. */
export interface QuotaCounter {
  /** The name of the counter, such as `account:acme`. Any string. */
  readonly subject: string
  /**
   * Whether `subject` is a client address. Limit the number of such counters; otherwise, they could
   * displace other counters.
   */
  readonly anonymous: boolean
}

/** One request to count. */
export interface QuotaRequest extends QuotaCounter {
  /** The limits that apply. */
  readonly limits: PlanLimits
  /** The rule for bans, or `false` for none. */
  readonly ban: BanRule | false
  /**
   * The time of the option `clock`, in milliseconds since the Unix epoch. A shared database uses
   * its own clock.
   */
  readonly now: number
}

/**
 * The counts of a subject after one request. All times are in milliseconds since the Unix epoch, by
 * one clock.
 */
export interface QuotaCount {
  /**
   * Whether the request may be served. If true, it has been counted in both windows; if false, in
   * neither.
   */
  readonly granted: boolean
  /** The time at which the quota store counted or refused the request, by its own clock. */
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
 * Counts requests by the rules of {@link countRequest}. A store may implement these rules in SQL or
 * Lua.
 */
export interface QuotaStore {
  /**
   * Counts a request in both windows, or refuses it and counts it in neither, in one atomic step:
   * if two calls compete for the last request of a window, only one is granted. `context.signal`
   * aborts only at the time limit, not when the client disconnects.
   */
  spend(request: QuotaRequest, context?: CallContext): MaybePromise<QuotaCount>
  /**
   * Returns the counts of a subject, and counts nothing: `usedInMinute` and `usedInDay` are the
   * requests served until now, and `granted` is whether `spend` would serve one more.
   * @default `petStore.keys.usage` rejects
   */
  readonly peek?: ((request: QuotaRequest, context?: CallContext) => MaybePromise<QuotaCount>) | undefined
  /**
   * Forgets the counts and the ban of a subject, as if it had sent no request.
   * @default `petStore.keys.resetUsage` rejects
   */
  readonly reset?: ((counter: QuotaCounter, context?: CallContext) => MaybePromise<void>) | undefined
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

/**
 * A back end whose key store also issues keys, as `memory` and the databases of this package return
 * it.
 */
export interface ManagedBackEnd extends BackEnd {
  /**
   * Finds, issues, changes, revokes and lists keys. A database stores only the SHA-256 of a token;
   * `memory` keeps the token.
   */
  readonly keyStore: ManagedKeyStore
}
