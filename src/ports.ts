import type { ApiKey, NewPet, Pet, PetStatus, PlanLimits } from './model.ts'

/** A value, or a promise of it. */
export type MaybePromise<T> = T | Promise<T>

/** A source of the time. */
export interface Clock {
  /** Returns milliseconds since the Unix epoch. The time may step back. */
  now(): number
}

/** The request that a port is called for. */
export interface CallContext {
  /** Aborts when the client disconnects or the time limit of the call is reached, so that a port can stop working for it. */
  readonly signal?: AbortSignal | undefined
  /** The client's address, if the adapter knows it. */
  readonly clientAddress?: string | undefined
}

/** The animals of one page. */
export interface PetQuery {
  /** The largest number of animals: a whole number, at least 1. */
  readonly limit: number
  /** Only animals whose id is greater than this. */
  readonly after?: bigint | undefined
  /** Only animals of this status. */
  readonly status?: PetStatus | undefined
}

/**
 * Keeps the animals.
 *
 * If the engine cannot be reached, throw a {@link PetStoreError} with the code `service_unavailable`, or an error with a
 * connection code such as `ECONNREFUSED`: the client gets 503. Any other error is a 500.
 */
export interface PetStorage {
  /**
   * Returns the first `limit` animals by ascending id that match the query.
   *
   * An animal whose `create` has not returned yet may be missing. Then all animals with greater ids are missing too, so that a
   * client that follows the ids never skips one.
   */
  list(query: PetQuery, context?: CallContext): MaybePromise<readonly Pet[]>
  /** Adds an animal, with an id greater than every id that a list has shown. It is durable when the call returns. */
  create(pet: NewPet, context?: CallContext): MaybePromise<Pet>
  /** Returns the animal of an id, or `undefined` or `null`. */
  get(id: bigint, context?: CallContext): MaybePromise<Pet | null | undefined>
}

/** Finds the key of a token. A host needs only this method to use credentials of its own. */
export interface KeyStore {
  /**
   * Returns the valid key of a token, or `undefined` or `null` if the token is unknown, revoked or expired.
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
  /** Limits for this key alone. @default those of the plan */
  readonly limits?: PlanLimits | undefined
  /** A note for the list of keys. @default none */
  readonly label?: string | undefined
  /** When the key expires, in milliseconds since the Unix epoch. @default never */
  readonly expiresAt?: number | undefined
}

/** A key that has just been issued: the only time that its token is shown. */
export interface IssuedKey {
  /** The bearer token. Back ends keep only its SHA-256. */
  readonly token: string
  /** The key without its token. */
  readonly key: ApiKey
}

/** A key store that also issues, revokes and lists. */
export interface ManagedKeyStore extends KeyStore {
  /** Returns the valid key of a token, or `undefined`. */
  find(token: string, context?: CallContext): MaybePromise<ApiKey | undefined>
  /** Issues a key. @throws {PetStoreError} `invalid_option`, with the name of the option */
  issue(options: IssueOptions): Promise<IssuedKey>
  /** Revokes the key of an id at once. Returns `false` if there is none to revoke. */
  revoke(id: string): Promise<boolean>
  /** Returns every key ever issued, the oldest first, including revoked keys. */
  list(): Promise<readonly ApiKey[]>
}

/** The rule by which a subject is banned. */
export interface BanRule {
  /** Refusals within one minute that start a ban: a whole number, at least 1. */
  readonly afterRefusals: number
  /** Length of a ban, in seconds: a whole number, at least 1. */
  readonly seconds: number
}

/** One request to count. */
export interface QuotaRequest {
  /** The name of the counter, such as `account:acme`. Any string. */
  readonly subject: string
  /**
   * True for a client address without a valid key. Store these counts separately and limit their number, so that a flood of
   * addresses never removes the count of a customer.
   */
  readonly anonymous: boolean
  /** The limits that apply. */
  readonly limits: PlanLimits
  /** The rule for bans, or `false` for none. */
  readonly ban: BanRule | false
  /** The core's time, in milliseconds since the Unix epoch. A store on a shared engine uses the engine's instead. */
  readonly now: number
}

/** The counts of a subject after one request. All times are in milliseconds since the Unix epoch, by one clock. */
export interface QuotaCount {
  /** Whether the request may be served. Only then has it been counted, in both windows. */
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
 * `spend` is one atomic step: of two concurrent calls, only one gets the last request. {@link countRequest} is the law that
 * every store follows, if need be in the language of its engine.
 */
export interface QuotaStore {
  /**
   * Counts a request in both windows, or refuses it and counts it in neither. The signal aborts only at the time limit: a client
   * that disconnects is counted.
   */
  spend(request: QuotaRequest, context?: CallContext): MaybePromise<QuotaCount>
}

/** The three ports of a whole back end, as `createPetStore` takes them. */
export interface BackEnd {
  /** Keeps the animals. */
  readonly storage: PetStorage
  /** Finds the key of a token. */
  readonly keyStore: KeyStore
  /** Counts requests. */
  readonly quota: QuotaStore
}
