export const INT64_MIN = -(2n ** 63n)
export const INT64_MAX = 2n ** 63n - 1n

export function isInt64(value: bigint): boolean {
  return BigInt.asIntN(64, value) === value
}

/** The values of an animal's `status`, in the order of docs/interface.md, section 3. */
export const petStatuses = ['available', 'pending', 'sold'] as const

/** The availability of an animal. */
export type PetStatus = (typeof petStatuses)[number]

/** The largest number of animals on a page. */
export const MAX_LIMIT = 100

/** The members of an animal besides its id. */
export interface PetMembers {
  /** The name: at least one character is not white space. */
  readonly name: string
  /** The id of the category, an int64. */
  readonly categoryId: bigint
  /** The availability. */
  readonly status: PetStatus
}

/** An animal as a client sends it. */
export interface NewPet extends Omit<PetMembers, 'status'> {
  /** The availability. @default the option `defaultStatus` of the store */
  readonly status?: PetStatus | undefined
}

/** New values for some members of an animal. An absent or `undefined` member does not change. */
export interface PetChanges {
  /** The name: at least one character is not white space. */
  readonly name?: string | undefined
  /** The id of the category, an int64. */
  readonly categoryId?: bigint | undefined
  /** The availability. */
  readonly status?: PetStatus | undefined
}

/**
 * An animal in the store. Code that uses every member has `satisfies Record<keyof Pet, …>`, so a
 * missing one is a type error.
 */
export interface Pet extends PetMembers {
  /** The unique identifier, an int64 that the storage assigns. */
  readonly id: bigint
}

/** Returns an animal with these members only. The members of all animals have the same order. */
export function petOf(id: bigint, { name, categoryId, status }: PetMembers): Pet {
  return { id, name, categoryId, status } satisfies Record<keyof Pet, unknown>
}

/** The rate limits of a plan or a key. */
export interface PlanLimits {
  /** Requests in one UTC minute: a whole number, at least 1. */
  readonly perMinute: number
  /** Requests in one UTC day: a whole number, at least 1. */
  readonly perDay: number
}

/** One of the two windows in which requests are counted. */
export interface UsageWindow {
  /** The largest number of requests in the window. */
  readonly limit: number
  /** The requests that were served in the window. */
  readonly used: number
  /** The requests that remain in the window. */
  readonly remaining: number
  /** When the window ends, in milliseconds since the Unix epoch. */
  readonly resetsAt: number
}

/** The rate limit in the headers of a response. */
export interface RateLimit {
  /** The largest number of requests in the current window. */
  readonly limit: number
  /** The requests that remain in the current window. */
  readonly remaining: number
  /** When the window ends, in milliseconds since the Unix epoch. */
  readonly resetsAt: number
}

/**
 * The plans of docs/interface.md, except `enterprise`: each `enterprise` key has its own limits.
 */
export const defaultPlans = {
  free: { perMinute: 60, perDay: 1_000 },
  pro: { perMinute: 300, perDay: 10_000 },
  business: { perMinute: 1_000, perDay: 100_000 },
}

/** An API key. It never contains the token itself. */
export interface ApiKey {
  /** Identifies the key in lists, in logs and in calls of `revoke`. The id is not secret. */
  readonly id: string
  /** The plan. Its limits apply unless the key has `limits` of its own. */
  readonly plan: string
  /** Keys with the same account are counted together. */
  readonly account?: string | undefined
  /** Limits for this key only. Keys of the plan `enterprise` need them. */
  readonly limits?: PlanLimits | undefined
  /** A note that is shown in the list of keys. */
  readonly label?: string | undefined
  /** When the key was issued, in milliseconds since the Unix epoch. */
  readonly createdAt?: number | undefined
  /** When the key expires, in milliseconds since the Unix epoch. */
  readonly expiresAt?: number | undefined
  /** When the key was revoked, in milliseconds since the Unix epoch. */
  readonly revokedAt?: number | undefined
  /** With `read`, the key can list and read animals, and each create gets 403. @default 'write' */
  readonly access?: KeyAccess | undefined
  /** When the key was suspended, in milliseconds since the Unix epoch. It is not valid until it is resumed. */
  readonly suspendedAt?: number | undefined
  /** The last UTC day on which a request had this key, such as `2030-01-31`. */
  readonly lastUsedOn?: string | undefined
  /**
   * When the token before the last rotation ends, or has ended, in milliseconds since the Unix epoch. Keys
   * that were never rotated have none.
   */
  readonly previousTokenExpiresAt?: number | undefined
  /**
   * When the token of this request ends, in milliseconds since the Unix epoch. Only `find` sets it, and
   * only for the previous token of a key that was rotated.
   */
  readonly tokenExpiresAt?: number | undefined
}

/** Whether a key can only read animals (`read`), or also add them (`write`). */
export type KeyAccess = 'read' | 'write'

/** The states of a key. Keys that are `expired` or `revoked` have ended. */
export const keyStates = ['active', 'suspended', 'expired', 'revoked'] as const

/** The state of a key. */
export type KeyState = (typeof keyStates)[number]
