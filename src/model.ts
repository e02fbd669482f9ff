/** The values of an animal's `status`, in the order in which the contract lists them. */
export const petStatuses = ['available', 'pending', 'sold'] as const

/** The availability of an animal. */
export type PetStatus = (typeof petStatuses)[number]

/** An animal as a client sends it, before the service has given it an id. */
export interface NewPet {
  /** The animal's name: at least one character that is not white space. */
  readonly name: string
  /** The category that the animal belongs to: an int64. */
  readonly categoryId: bigint
  /** The availability; absent only where the option `defaultStatus` is `null`. */
  readonly status?: PetStatus | undefined
}

/** An animal of the catalogue. */
export interface Pet extends NewPet {
  /** The unique identifier, an int64 that the storage assigns. */
  readonly id: bigint
}

/** How many requests one allowance holds. */
export interface PlanLimits {
  /** Requests in one UTC minute: a whole number, at least 1. */
  readonly perMinute: number
  /** Requests in one UTC day: a whole number, at least 1. */
  readonly perDay: number
}

/** What the service knows of an API key. The token itself is never part of it. */
export interface ApiKey {
  /** Names the key in lists, logs and `revoke`; it is not a secret. */
  readonly id: string
  /** The plan, whose limits hold unless the key has `limits` of its own. */
  readonly plan: string
  /** Keys with the same account share one allowance. */
  readonly account?: string | undefined
  /** Limits agreed for this key alone, as for the Enterprise plan. */
  readonly limits?: PlanLimits | undefined
  /** A note for whoever reads the list of keys. */
  readonly label?: string | undefined
  /** When the key was issued, in milliseconds since the Unix epoch. */
  readonly createdAt?: number | undefined
  /** From when on the key is refused, in milliseconds since the Unix epoch. */
  readonly expiresAt?: number | undefined
  /** When the key was revoked, in milliseconds since the Unix epoch. */
  readonly revokedAt?: number | undefined
}
