import type { CorsOptions } from './cors.ts'
import type { SunsetPolicy } from './deprecation.ts'
import { describe } from './describe.ts'
import { PetStoreError } from './errors.ts'
import { type PetStatus, type PlanLimits, petStatuses } from './model.ts'
import type { Clock, KeyStore, PetStorage, QuotaStore } from './ports.ts'
import type { BanOptions } from './quota.ts'
import type { ErrorReport, ResponseReport } from './report.ts'

/** The options of {@link createPetStore}. */
export interface PetStoreOptions {
  /** Where animals are kept. @default in memory */
  readonly storage?: PetStorage | undefined
  /** Tells whose an API key is. @default in memory */
  readonly keyStore?: KeyStore | undefined
  /** Counts requests. @default in memory */
  readonly quota?: QuotaStore | undefined
  /** The time, in milliseconds since the Unix epoch. @default Date */
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
  /** What happens to requests while the quota store is out of order: 503, or served uncounted. @default 'refuse' */
  readonly onQuotaFailure?: 'refuse' | 'allow' | undefined
  /** Told of every fault, with all of its cause. @default nothing is told */
  readonly onError?: ((error: unknown, report: ErrorReport) => void) | undefined
  /** Told of every answer, as for a log. @default nothing is told */
  readonly onResponse?: ((report: ResponseReport) => void) | undefined
}

type Check = (value: unknown) => boolean

interface Rule {
  readonly expected: string
  readonly check: Check
}

const isCount: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 1
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isOneOf =
  (...values: readonly unknown[]): Check =>
  (value) =>
    values.includes(value)
const isOptional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value)
const hasMethods =
  (...names: readonly string[]): Check =>
  (value) =>
    ((typeof value === 'object' && value !== null) || typeof value === 'function') &&
    names.every((name) => typeof (value as Record<string, unknown>)[name] === 'function')
const isFunction: Check = (value) => typeof value === 'function'
const port = (...names: readonly string[]): Rule => ({
  expected: `an object with ${names.join(', ')}`,
  check: hasMethods(...names),
})

/** Whether a value can be the limits of a plan or a key. */
export function isPlanLimits(value: unknown): value is PlanLimits {
  return isObject(value) && isCount(value.perMinute) && isCount(value.perDay)
}

/** What is expected of limits, for messages. */
export const EXPECTED_LIMITS = '{ perMinute, perDay }, whole numbers of at least 1'

const rules: Readonly<Record<keyof PetStoreOptions, Rule>> = {
  storage: port('list', 'create', 'get'),
  keyStore: port('find'),
  quota: port('spend'),
  clock: port('now'),
  basePath: { expected: 'a path such as "/v1", without a trailing slash, a query or an escape', check: isBasePath },
  publicUrl: { expected: 'an http or https URL without query and fragment', check: isPublicUrl },
  plans: {
    expected: `an object whose values are ${EXPECTED_LIMITS}`,
    check: (value) => isObject(value) && Object.values(value).every(isPlanLimits),
  },
  anonymous: { expected: EXPECTED_LIMITS, check: isPlanLimits },
  ban: { expected: 'false or { afterRefusals, seconds }, whole numbers of at least 1', check: isBan },
  defaultStatus: { expected: `null or one of ${petStatuses.join(', ')}`, check: isOneOf(null, ...petStatuses) },
  bodyLimit: { expected: 'a whole number of bytes, at least 1', check: isCount },
  timeout: {
    expected: 'a whole number of milliseconds from 1 to 2147483647',
    check: (value) => isCount(value) && (value as number) < 2 ** 31,
  },
  cors: { expected: 'true, false, or { origins: "*" or a list of origins, maxAge: seconds }', check: isCors },
  sunset: { expected: '"enforce" or "announce"', check: isOneOf('enforce', 'announce') },
  onQuotaFailure: { expected: '"refuse" or "allow"', check: isOneOf('refuse', 'allow') },
  onError: { expected: 'a function', check: isFunction },
  onResponse: { expected: 'a function', check: isFunction },
}

/** What a back end may carry beside its ports, so that it can be spread into the options as it is. */
const COMPANIONS = new Set(['migrate', 'close'])

/**
 * Refuses options that have no meaning.
 *
 * @throws {PetStoreError} `invalid_option`, naming the option, what was expected and what came
 */
export function checkOptions(options: PetStoreOptions): void {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || COMPANIONS.has(name)) continue
    const rule = Object.hasOwn(rules, name) ? rules[name as keyof PetStoreOptions] : undefined
    if (rule === undefined) throw invalidOption(name, `one of the options ${Object.keys(rules).join(', ')}`, value)
    if (!rule.check(value)) throw invalidOption(name, rule.expected, value)
  }
}

/** The error of a wrong option, for every part of this package that takes some. */
export function invalidOption(name: string, expected: string, value: unknown): PetStoreError {
  return new PetStoreError('invalid_option', `option ${name}: expected ${expected}, got ${describe(value)}`)
}

function isBasePath(value: unknown): boolean {
  return typeof value === 'string' && /^(?:\/[\w\-.~!$&'()*+,;=:@]+)*\/?$/.test(value)
}

function isPublicUrl(value: unknown): boolean {
  if (typeof value !== 'string' || !URL.canParse(value)) return false
  const { protocol, search, hash } = new URL(value)
  return /^https?:$/.test(protocol) && search === '' && hash === ''
}

function isBan(value: unknown): boolean {
  return (
    value === false ||
    (isObject(value) && isOptional(isCount)(value.afterRefusals) && isOptional(isCount)(value.seconds))
  )
}

function isCors(value: unknown): boolean {
  if (!isObject(value)) return typeof value === 'boolean'
  const { origins, maxAge } = value
  const isOrigin = (origin: unknown) =>
    typeof origin === 'string' && URL.canParse(origin) && new URL(origin).origin === origin
  const isOrigins: Check = (list) => list === '*' || (Array.isArray(list) && list.every(isOrigin))
  return isOptional(isOrigins)(origins) && isOptional((age) => age === 0 || isCount(age))(maxAge)
}
