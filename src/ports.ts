import type { ApiKey, NewPet, Pet, PetStatus, PlanLimits } from './model.ts'

/** A value now, or a promise of it: what answers from memory need not wait for a tick. */
export type MaybePromise<T> = T | Promise<T>

/** The time. The default of every clock in this package is `Date` itself. */
export interface Clock {
  /** Milliseconds since the Unix epoch. It may step back, as a machine's clock does. */
  now(): number
}

/** What a port may want to know of the request that it works for. */
export interface CallContext {
  /** Aborts when the client has left, so that work for it can be given up. */
  readonly signal?: AbortSignal | undefined
}

/** Which animals one page holds. */
export interface PetQuery {
  /** The most animals to return: a whole number, at least 1. */
  readonly limit: number
  /** Only animals whose id is greater than this. */
  readonly after?: bigint | undefined
  /** Only animals of this status. */
  readonly status?: PetStatus | undefined
}

/**
 * Where animals are kept.
 *
 * A port that cannot reach its engine throws a {@link PetStoreError} with the code `service_unavailable` (the client gets
 * 503), or an error with a connection code such as `ECONNREFUSED`. Anything else that it throws becomes a 500.
 */
export interface PetStorage {
  /**
   * The first `limit` animals by ascending id that match the query.
   *
   * An animal whose `create` has not yet answered may be missing, but then every animal with a greater id is missing as
   * well: a reader that follows the ids never passes over one.
   */
  list(query: PetQuery, context?: CallContext): MaybePromise<readonly Pet[]>
  /** Keeps one animal, under an id greater than every id that a list has shown. It is durable once this has answered. */
  create(pet: NewPet, context?: CallContext): MaybePromise<Pet>
  /** The animal of that id, or `undefined` or `null`. */
  get(id: bigint, context?: CallContext): MaybePromise<Pet | null | undefined>
}

/** Tells whose a token is. This one method is all that a host needs to plug in credentials of its own. */
export interface KeyStore {
  /**
   * The live key of that token, or `undefined` or `null` where it is unknown, revoked or expired.
   *
   * The token is any token68 that a client sent: nothing has been checked but its characters.
   */
  find(token: string, context?: CallContext): MaybePromise<ApiKey | null | undefined>
}

/** What a new key is issued with. */
export interface IssueOptions {
  /** The plan: `free`, `pro`, `business`, `enterprise` (which needs `limits`), or a plan of your own. */
  readonly plan: string
  /** Keys with the same account share one allowance. @default an allowance of its own */
  readonly account?: string | undefined
  /** Limits for this key alone. @default those of the plan */
  readonly limits?: PlanLimits | undefined
  /** A note for whoever reads the list of keys. @default none */
  readonly label?: string | undefined
  /** From when on the key is refused, in milliseconds since the Unix epoch. @default never */
  readonly expiresAt?: number | undefined
}

/** A key on the day of its issue: the only time that its token is shown. */
export interface IssuedKey {
  /** What the client sends after `Bearer`. Back ends keep only its SHA-256. */
  readonly token: string
  /** What the store keeps of it. */
  readonly key: ApiKey
}

/** A key store that also issues, revokes and lists. */
export interface ManagedKeyStore extends KeyStore {
  /** The live key of that token, or `undefined`. */
  find(token: string, context?: CallContext): MaybePromise<ApiKey | undefined>
  /** Issues a key. @throws {PetStoreError} `invalid_option` where an option has no meaning */
  issue(options: IssueOptions): Promise<IssuedKey>
  /** Revokes the key of that id, at once; `false` where there is none to revoke. */
  revoke(id: string): Promise<boolean>
  /** Every key ever issued, the oldest first, revoked ones included. */
  list(): Promise<readonly ApiKey[]>
}

/** When a subject is banned. */
export interface BanRule {
  /** How many refusals within one minute start a ban: a whole number, at least 1. */
  readonly afterRefusals: number
  /** How long a ban lasts, in seconds: a whole number, at least 1. */
  readonly seconds: number
}

/** One request that is to be counted. */
export interface QuotaRequest {
  /** Whose allowance it spends, such as `account:acme`. Any string. */
  readonly subject: string
  /** True for an address without a key: such subjects must never push out those of customers. */
  readonly anonymous: boolean
  /** The limits in force for this subject now. */
  readonly limits: PlanLimits
  /** The rule for bans, or `false` where there are none. */
  readonly ban: BanRule | false
  /** The core's time, in milliseconds since the Unix epoch. A store on a shared engine uses the engine's instead. */
  readonly now: number
}

/** How a subject stands after one request. All times are in milliseconds since the Unix epoch, by one clock. */
export interface QuotaCount {
  /** Whether the request may be served. Only then has it been counted, in both windows. */
  readonly granted: boolean
  /** The time by which the store decided. */
  readonly now: number
  /** Requests served in this minute, this one included. */
  readonly usedInMinute: number
  /** When the minute's window ends. */
  readonly minuteEndsAt: number
  /** Requests served on this day, this one included. */
  readonly usedInDay: number
  /** When the day's window ends. */
  readonly dayEndsAt: number
  /** When the ban ends; 0 where there is none. */
  readonly bannedUntil: number
}

/**
 * Counts requests.
 *
 * `spend` is one atomic step: two calls at once never both take the last request. The law that every store follows is
 * {@link countRequest}; a store on an engine of its own says the same in that engine's language.
 */
export interface QuotaStore {
  /** Counts one request against both windows, or refuses it and counts it in neither. */
  spend(request: QuotaRequest): MaybePromise<QuotaCount>
}

/** The three ports of a whole back end, as `createPetStore` takes them. */
export interface BackEnd {
  /** Where animals are kept. */
  readonly storage: PetStorage
  /** Tells whose an API key is. */
  readonly keyStore: KeyStore
  /** Counts requests. */
  readonly quota: QuotaStore
}
