import * as z from 'zod/mini'
import { type CorsOptions, corsRules } from './http/cors.ts'
import type { SunsetPolicy } from './http/deprecation.ts'
import { linkBaseOf } from './http/request.ts'
import { defaultPlans, type PetStatus, type PlanLimits, petStatuses } from './model.ts'
import type { BanRule, Clock, KeyStore, PetStorage, QuotaStore } from './ports.ts'
import type { QuotaRules } from './quota/rate-limit.ts'
import {
  type CreationReport,
  type ErrorReport,
  type LimitReport,
  logError,
  type ResponseReport,
} from './reports/observers.ts'
import { expecting, type Shape } from './schemas/expected.ts'
import { ban, limits, plans } from './schemas/limits.ts'
import {
  clock,
  functionOf,
  keyStore,
  listOf,
  oneOf,
  optionsOf,
  positiveInteger,
  textThat,
  timeout,
  wholeNumber,
  withMethods,
} from './schemas/options.ts'
import { originPattern } from './schemas/origin.ts'
import { parseOptions } from './schemas/parse-options.ts'
import { DEFAULT_MAX_NAME_LENGTH, DEFAULT_STATUS, newPet } from './schemas/pet.ts'
import { similarName } from './support/similar-name.ts'
import { isHttpUrl } from './support/text.ts'
import { systemClock } from './support/time.ts'

/** The options of {@link createPetStore}. */
export interface PetStoreOptions {
  /** Stores the animals. @default a storage in memory */
  readonly storage?: PetStorage | undefined
  /**
   * Finds the API key for a token.
   * @default a key store in memory, available as `petStore.keyStore`
   */
  readonly keyStore?: KeyStore | undefined
  /** Counts requests. @default a quota store in memory */
  readonly quota?: QuotaStore | undefined
  /**
   * The clock, in milliseconds since the Unix epoch, from 1970 to 9999.
   * @default the system clock
   */
  readonly clock?: Clock | undefined
  /** The path under which clients see the API, without a trailing slash. @default '/v1' */
  readonly basePath?: string | undefined
  /**
   * The public URL, with or without `basePath`. Links then begin with this URL.
   * @default links contain only a path
   */
  readonly publicUrl?: string | undefined
  /**
   * Limits by plan, in addition to `free`, `pro` and `business`, or instead of one of these.
   * @default those three plans
   */
  readonly plans?: Readonly<Record<string, PlanLimits>> | undefined
  /**
   * The limits for all requests without a valid key from one client address.
   * @default the limits of the plan `free`
   */
  readonly anonymous?: PlanLimits | undefined
  /**
   * Clients without a valid key share one limit per IPv6 prefix of this many bits, from 32 to 128.
   * @default 56
   */
  readonly ipv6Prefix?: number | undefined
  /**
   * When to ban a key that keeps sending after a 429; `false` for no bans.
   * @default a ban of 300 seconds, when the refusals of a key within one minute reach its limit per
   * minute
   */
  readonly ban?: Partial<BanRule> | false | undefined
  /**
   * The status of a new animal if the client sends none.
   * @default 'available'
   */
  readonly defaultStatus?: PetStatus | undefined
  /**
   * The longest name of an animal, in characters: Unicode code points, so an emoji such as 🐕 is one
   * character.
   * @default 1000
   */
  readonly maxNameLength?: number | undefined
  /** The largest body, in bytes. @default 65536 */
  readonly bodyLimit?: number | undefined
  /**
   * How long one call of a back end may take, in milliseconds. After that, the client gets 503.
   * @default 10000
   */
  readonly timeout?: number | undefined
  /**
   * Whether clients can only read: each createPet gets 503 with `Retry-After`. `petStore.pets` still
   * writes.
   * @default false
   */
  readonly readOnly?: boolean | undefined
  /**
   * Whether each response has the headers `RateLimit-Policy` and `RateLimit` too, as
   * draft-ietf-httpapi-ratelimit-headers-11 defines them, with both windows.
   * @default false
   */
  readonly standardRateLimitHeaders?: boolean | undefined
  /**
   * Whether each response has an id in `X-Request-Id`, which reports have too: the one that the client
   * has sent in this header, if it has 1 to 128 of the characters `A-Za-z0-9_-.:+/=~`, or a new UUID.
   * @default false
   */
  readonly requestId?: boolean | undefined
  /** Lets web pages from other origins call the API. @default false */
  readonly cors?: boolean | CorsOptions | undefined
  /**
   * Whether getPet stops working on 5 December 2030 (`enforce`), or only announces its removal.
   * @default 'enforce'
   */
  readonly sunset?: SunsetPolicy | undefined
  /**
   * The response while the quota store fails. With `refuse`, clients get 503. With `allow`,
   * requests are served without a count. Then each waits at most one second for the quota store,
   * which gets no call for one second after a failure.
   * @default 'refuse'
   */
  readonly onQuotaFailure?: 'refuse' | 'allow' | undefined
  /**
   * Called with every error that the client has not caused, and a report of the request.
   * @default logs to `console.error`
   */
  readonly onError?: ((error: unknown, report: ErrorReport) => void) | undefined
  /** Called with a report of every response. @default none */
  readonly onResponse?: ((report: ResponseReport) => void) | undefined
  /**
   * Called with each animal that a client has added, when it is durable, and with the API key. The
   * response does not wait for it. Not called for a repeat of an idempotency key, nor for
   * `petStore.pets`. If it throws or rejects, `onError` gets the error.
   * @default none
   */
  readonly onPetCreated?: ((report: CreationReport) => void) | undefined
  /**
   * Called when a key comes close to a limit, reaches it or is banned: once in this process for each
   * event, window, limit, and account or key. Not called for a client address. The response does not
   * wait for it. If it throws or rejects, `onError` gets the error.
   * @default none
   */
  readonly onLimit?: ((report: LimitReport) => void) | undefined
  /**
   * The share of a limit at which `onLimit` gets the event `warned`, above 0 and up to 1. With 1, there
   * are no warnings.
   * @default 0.8
   */
  readonly warnAt?: number | undefined
}

const BASE_PATH = /^(?:\/(?!\.\.?(?:\/|$))[\w\-.~!$&'()*+,;=:@]+)*\/?$/

const headerName = textThat((text) => /^[\w!#$%&'*+.^`|~-]+$/.test(text), 'the name of a header, such as "traceparent"')

const corsOptions = optionsOf<CorsOptions>({
  origins: z.optional(
    z.union(
      [z.literal('*'), listOf(originPattern, 'a list of origins'), functionOf<(origin: string) => boolean>()],
      expecting('"*", a list of origins such as "https://shop.example", or a function'),
    ),
  ),
  credentials: z.optional(z.boolean(expecting('true or false'))),
  headers: z.optional(listOf(headerName, 'a list of header names such as "traceparent"')),
  maxAgeSeconds: z.optional(wholeNumber(0)),
})

const SHARE = expecting('a number above 0 and up to 1, such as 0.8')

export const storeShape = {
  storage: z.optional(withMethods<PetStorage>({ list: true, create: true, get: true })),
  keyStore: z.optional(keyStore),
  quota: z.optional(withMethods<QuotaStore>({ spend: true })),
  clock: z.optional(clock),
  basePath: z.optional(textThat((text) => BASE_PATH.test(text), 'a path such as "/v1", without query and escapes')),
  publicUrl: z.optional(
    textThat(isHttpUrl, 'an http or https URL such as "https://shop.example", without credentials, query and fragment'),
  ),
  plans: z.optional(plans),
  anonymous: z.optional(limits),
  ipv6Prefix: z.optional(wholeNumber(32, 128, 'bits')),
  ban: z.optional(ban),
  defaultStatus: z.optional(oneOf(...petStatuses)),
  maxNameLength: z.optional(positiveInteger),
  bodyLimit: z.optional(positiveInteger),
  timeout: z.optional(timeout),
  readOnly: z.optional(z.boolean(expecting('true or false'))),
  standardRateLimitHeaders: z.optional(z.boolean(expecting('true or false'))),
  requestId: z.optional(z.boolean(expecting('true or false'))),
  cors: z.optional(
    z.union([z.boolean(), corsOptions], expecting('true, false or { origins, credentials, headers, maxAgeSeconds }')),
  ),
  sunset: z.optional(oneOf('enforce', 'announce')),
  onQuotaFailure: z.optional(oneOf('refuse', 'allow')),
  onError: z.optional(functionOf<NonNullable<PetStoreOptions['onError']>>()),
  onResponse: z.optional(functionOf<NonNullable<PetStoreOptions['onResponse']>>()),
  onPetCreated: z.optional(functionOf<NonNullable<PetStoreOptions['onPetCreated']>>()),
  onLimit: z.optional(functionOf<NonNullable<PetStoreOptions['onLimit']>>()),
  warnAt: z.optional(z.number(SHARE).check(z.refine((share) => share > 0 && share <= 1, SHARE))),
} satisfies Shape<PetStoreOptions>

const storeOptions = optionsOf<PetStoreOptions>(storeShape)

/**
 * Leaves out the members that a back end has besides its ports, such as `close`: a caller passes
 * them with `createPetStore({ ...backEnd })`. A member whose name resembles an option stays, so that
 * a misspelt option is reported. Without a back end, every unknown member is reported.
 */
function withoutOwnMembers(given: PetStoreOptions): PetStoreOptions {
  const { storage, keyStore, quota } = Object(given) as PetStoreOptions
  if (!storage && !keyStore && !quota) return given
  const known = Object.keys(storeShape)
  const resembling = Object.keys(given).filter((name) => similarName(name, known) !== undefined)
  const kept = new Set([...known, ...resembling])
  return Object.fromEntries([...kept].map((name) => [name, Reflect.get(given, name)]))
}

/** The largest body, in bytes. */
export const DEFAULT_BODY_LIMIT = 65_536

/** How long a request waits for the quota store with `onQuotaFailure: 'allow'`, in milliseconds. */
const ALLOW_TIMEOUT = 1_000

/**
 * Checks the options of `createPetStore` and fills in their defaults.
 * @throws {PetStoreError} `invalid_option`
 */
export function resolveOptions(given: PetStoreOptions) {
  const options = parseOptions(storeOptions, withoutOwnMembers(given))
  const { clock = systemClock, timeout = 10_000, cors = false, ban = {}, onQuotaFailure = 'refuse' } = options
  const { maxNameLength = DEFAULT_MAX_NAME_LENGTH, defaultStatus = DEFAULT_STATUS } = options
  const { requestId = false, standardRateLimitHeaders = false } = options
  const basePath = (options.basePath ?? '/v1').replace(/\/$/, '')
  const plans = resolvePlans(options.plans)
  return {
    ports: { storage: options.storage, keyStore: options.keyStore, quota: options.quota },
    basePath,
    linkBase: linkBaseOf(basePath, options.publicUrl),
    clock,
    timeouts: { timeout, quotaTimeout: onQuotaFailure === 'allow' ? Math.min(timeout, ALLOW_TIMEOUT) : timeout },
    onQuotaFailure,
    quotaRules: {
      plans,
      anonymous: options.anonymous ?? (plans.free as PlanLimits),
      ipv6Prefix: options.ipv6Prefix ?? 56,
      ban: ban && { afterRefusals: ban.afterRefusals, seconds: ban.seconds ?? 300 },
    },
    cors: corsRules(cors, { requestId, standardRateLimitHeaders }),
    requestId,
    standardRateLimitHeaders,
    observers: {
      onError: options.onError ?? logError,
      onResponse: options.onResponse,
      onPetCreated: options.onPetCreated,
      onLimit: options.onLimit,
    },
    warnAt: options.warnAt ?? 0.8,
    readOnly: options.readOnly ?? false,
    sunset: options.sunset ?? 'enforce',
    bodyLimit: options.bodyLimit ?? DEFAULT_BODY_LIMIT,
    newPet: newPet({ maxNameLength, defaultStatus }),
    maxNameLength,
    defaultStatus,
  } as const
}

export type ResolvedOptions = ReturnType<typeof resolveOptions>

export function resolvePlans(plans: PetStoreOptions['plans']): QuotaRules['plans'] {
  return { ...defaultPlans, ...plans }
}
