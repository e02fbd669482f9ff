import type { ErrorReport, ResponseReport } from './faults/observers.ts'
import type { CorsOptions } from './http/cors.ts'
import { type PetStatus, type PlanLimits, petStatuses } from './model.ts'
import type { SunsetPolicy } from './pets/deprecation.ts'
import type { Clock, KeyStore, PetStorage, QuotaStore } from './ports.ts'
import type { BanOptions } from './quota/rate-limit.ts'
import {
  checkOptions,
  clockRule,
  countRule,
  functionRule,
  isObject,
  keyStoreRule,
  limitsRule,
  millisecondsRule,
  type OptionRules,
  oneOf,
  withMethods,
} from './support/option-rules.ts'
import { isCount } from './support/predicates.ts'

/** The options of {@link createPetStore}. */
export interface PetStoreOptions {
  /** Where animals are kept. @default in memory */
  readonly storage?: PetStorage | undefined
  /** Tells whose an API key is: without one, nobody has a key. @default none */
  readonly keyStore?: KeyStore | undefined
  /** Counts requests. @default in memory */
  readonly quota?: QuotaStore | undefined
  /** The time, in milliseconds since the Unix epoch. @default the system's */
  readonly clock?: Clock | undefined
  /** The path under which clients see the API, without a trailing slash. @default '/v1' */
  readonly basePath?: string | undefined
  /**
   * The public address, for absolute links: `https://api.example`, or with the path under which clients see the API.
   * @default links are paths
   */
  readonly publicUrl?: string | undefined
  /** Limits by plan; those that you name are added to, or stand in for, Free, Pro and Business. @default those of the contract */
  readonly plans?: Readonly<Record<string, PlanLimits>> | undefined
  /** Limits of an address that sends no valid key. @default those of the plan `free` */
  readonly anonymous?: PlanLimits | undefined
  /** When a key is banned for going on after a 429, or `false` for never. @default 300 seconds, after as many refusals in a minute as the per-minute limit */
  readonly ban?: BanOptions | false | undefined
  /** The status of an animal that is added without one; `null` leaves it out. @default 'available' */
  readonly defaultStatus?: PetStatus | null | undefined
  /** The largest body that is read, in bytes. @default 65536 */
  readonly bodyLimit?: number | undefined
  /** How long a back end may take for one call, in milliseconds, before the client gets 503. @default 10000 */
  readonly timeout?: number | undefined
  /** Lets pages of other origins call the API from a browser. @default false */
  readonly cors?: boolean | CorsOptions | undefined
  /** Whether getPet is gone from 5 December 2030 on, or only announces it. @default 'enforce' */
  readonly sunset?: SunsetPolicy | undefined
  /** What happens to requests while the quota store fails: 503 (500 where it is no matter of reach), or served uncounted. @default 'refuse' */
  readonly onQuotaFailure?: 'refuse' | 'allow' | undefined
  /** Told of every fault, with all of its cause. @default nothing is told */
  readonly onError?: ((error: unknown, report: ErrorReport) => void) | undefined
  /** Told of every answer, as for a log. @default nothing is told */
  readonly onResponse?: ((report: ResponseReport) => void) | undefined
}

const storeRules: OptionRules<keyof PetStoreOptions> = {
  storage: withMethods('list', 'create', 'get'),
  keyStore: keyStoreRule,
  quota: withMethods('spend'),
  clock: clockRule,
  basePath: { expected: 'a path such as "/v1", without query and escapes', check: isBasePath },
  publicUrl: {
    expected: 'an http or https URL such as "https://shop.example", without credentials, query and fragment',
    check: isPublicUrl,
  },
  plans: {
    expected: 'an object of limits by plan',
    check: (value) => isObject(value) && Object.values(value).every(isObject),
    members: { '*': limitsRule },
  },
  anonymous: limitsRule,
  ban: {
    expected: 'false or { afterRefusals, seconds }',
    check: (value) => value === false || isObject(value),
    members: { afterRefusals: countRule, seconds: countRule },
  },
  defaultStatus: oneOf(null, ...petStatuses),
  bodyLimit: countRule,
  timeout: {
    expected: 'a whole number of milliseconds from 1 to 2147483647',
    check: (value) => isCount(value) && millisecondsRule.check(value),
  },
  cors: {
    expected: 'true, false or { origins, maxAge }',
    check: (value) => typeof value === 'boolean' || isObject(value),
    members: {
      origins: { expected: '"*" or a list of origins such as "https://shop.example"', check: isOrigins },
      maxAge: { expected: 'a whole number of seconds from 0', check: (value) => value === 0 || isCount(value) },
    },
  },
  sunset: oneOf('enforce', 'announce'),
  onQuotaFailure: oneOf('refuse', 'allow'),
  onError: functionRule,
  onResponse: functionRule,
}

/** What a back end may carry beside its ports, so that it can be spread into the options as it is. */
const COMPANIONS = ['migrate', 'close']

/**
 * Checks the options of a pet store.
 *
 * @throws {PetStoreError} `invalid_option`, with the option's name, what was expected and what was received
 */
export function checkPetStoreOptions(options: PetStoreOptions): void {
  checkOptions(storeRules, options, COMPANIONS)
}

function isBasePath(value: unknown): boolean {
  return typeof value === 'string' && /^(?:\/(?!\.\.?(?:\/|$))[\w\-.~!$&'()*+,;=:@]+)*\/?$/.test(value)
}

function isPublicUrl(value: unknown): boolean {
  return typeof value === 'string' && /^https?:\/\/[^?#@/\\]+(?:\/[^?#]*)?$/i.test(value) && URL.canParse(value)
}

function isOrigins(value: unknown): boolean {
  return value === '*' || (Array.isArray(value) && value.every(isOrigin))
}

/** An origin as browsers send it, also of an app or an extension: in lower case, without a path. A pattern is none. */
function isOrigin(value: unknown): boolean {
  if (typeof value !== 'string' || value.includes('*') || !URL.canParse(value)) return false
  const { protocol, host } = new URL(value)
  return value === `${protocol}//${host}`
}
