import type { CorsOptions } from './http/cors.ts'
import type { SunsetPolicy } from './pets/deprecation.ts'
import { describe } from './support/describe-value.ts'
import { PetStoreError } from './errors.ts'
import { isCount } from './support/predicates.ts'
import { type PetStatus, type PlanLimits, petStatuses } from './model.ts'
import type { Clock, KeyStore, PetStorage, QuotaStore } from './ports.ts'
import type { BanOptions } from './quota/rate-limit.ts'
import type { ErrorReport, ResponseReport } from './faults/observers.ts'

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

/** Whether a value is what is expected. */
type Check = (value: unknown) => boolean

/** An object, and no list, map or promise. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !(Symbol.iterator in value || value instanceof Promise)
/** What timers take, but for 0. */
const isTime: Check = (value) => isCount(value) && value < 2 ** 31
const isFunction: Check = (value) => typeof value === 'function'
const isOneOf = (...values: readonly unknown[]): [string, Check] => [
  values.map(String).join(' or '),
  (value) => values.includes(value),
]
/** `Date`, the default clock, is a function with a method. */
const hasMethods = (...names: readonly string[]): [string, Check] => [
  `an object with ${names.join(', ')}`,
  // A list finds as well, but by a function: it would be asked with the token, and tell it in the error.
  (value) =>
    !Array.isArray(value) &&
    names.every((name) => isFunction((value as Record<string, unknown> | null | undefined)?.[name])),
]

/** What is expected of an option, whether a value is that, and what is expected of its members: of each, or by `*` of all. */
export type OptionRule = readonly [expected: string, check: Check, members?: OptionRules]

/** What is expected of each option of some part of this package. */
export type OptionRules<Name extends string = string> = Readonly<Record<Name, OptionRule>>

/** What is expected of a clock. */
export const clockRule = hasMethods('now')
/** What is expected of a key store. */
export const keyStoreRule = hasMethods('find')
/** What is expected of a number of things. */
export const countRule: [string, Check] = ['a whole number from 1 to 2^53-1', isCount]
/** What is expected of a time to wait. */
export const millisecondsRule: [string, Check] = [
  'a whole number of milliseconds from 0 to 2147483647',
  (value) => value === 0 || isTime(value),
]
/** What is expected of the limits of a plan or a key. */
export const limitsRule: OptionRule = [
  '{ perMinute, perDay }, whole numbers of at least 1',
  (value) => isObject(value) && isCount(value.perMinute) && isCount(value.perDay),
  { perMinute: countRule, perDay: countRule },
]

const storeRules: OptionRules<keyof PetStoreOptions> = {
  storage: hasMethods('list', 'create', 'get'),
  keyStore: keyStoreRule,
  quota: hasMethods('spend'),
  clock: clockRule,
  basePath: ['a path such as "/v1", without query and escapes', isBasePath],
  publicUrl: [
    'an http or https URL such as "https://shop.example", without credentials, query and fragment',
    isPublicUrl,
  ],
  plans: [
    'an object of limits by plan',
    (value) => isObject(value) && Object.values(value).every(isObject),
    { '*': limitsRule },
  ],
  anonymous: limitsRule,
  ban: [
    'false or { afterRefusals, seconds }',
    (value) => value === false || isObject(value),
    { afterRefusals: countRule, seconds: countRule },
  ],
  defaultStatus: isOneOf(null, ...petStatuses),
  bodyLimit: countRule,
  timeout: ['a whole number of milliseconds from 1 to 2147483647', isTime],
  cors: [
    'true, false or { origins, maxAge }',
    (value) => typeof value === 'boolean' || isObject(value),
    {
      origins: ['"*" or a list of origins such as "https://shop.example"', isOrigins],
      maxAge: ['a whole number of seconds from 0', (value) => value === 0 || isCount(value)],
    },
  ],
  sunset: isOneOf('enforce', 'announce'),
  onQuotaFailure: isOneOf('refuse', 'allow'),
  onError: ['a function', isFunction],
  onResponse: ['a function', isFunction],
}

/** What a back end may carry beside its ports, so that it can be spread into the options as it is. */
const COMPANIONS = ['migrate', 'close']

/**
 * Refuses options of a pet store that have no meaning.
 *
 * @throws {PetStoreError} `invalid_option`, naming the option, what was expected and what came
 */
export function checkOptions(options: PetStoreOptions): void {
  checkAgainst(storeRules, options, COMPANIONS)
}

/**
 * Refuses options that the rules do not know, or that are not as the rules have them.
 *
 * @throws {PetStoreError} `invalid_option`, naming the option, what was expected and what came
 */
export function checkAgainst(rules: OptionRules, options: object, ignored: readonly string[] = [], path = ''): void {
  if (!isObject(options)) throw invalidOption('options', 'a plain object', options)
  // What an object inherits counts as well.
  for (const name of new Set([...Object.keys(options), ...Object.keys(rules)])) {
    const value: unknown = options[name]
    if (value === undefined || ignored.includes(name)) continue
    const place = path + name
    const rule = Object.hasOwn(rules, name) ? rules[name] : rules['*']
    if (!rule) throw invalidOption(place, `one of the options ${Object.keys(rules).join(', ')}`, value)
    const [expected, check, members] = rule
    if (members && isObject(value)) checkAgainst(members, value, [], `${place}.`)
    if (!check(value)) throw invalidOption(place, expected, value)
  }
}

/** The error of a wrong option, for every part of this package that takes some. */
export function invalidOption(name: string, expected: string, value: unknown): PetStoreError {
  return new PetStoreError('invalid_option', `option ${name}: expected ${expected}, got ${describe(value)}`)
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
