import type { CorsOptions, PlanLimits } from '../../src/index.ts'
import { isToken68 } from '../../src/keys/token.ts'
import { defaultPlans } from '../../src/model.ts'
import { isHttpUrl } from '../../src/support/option-rules.ts'
import type { TrustProxy } from '../hosts/node/index.ts'
import type { BackEndFlags, PlanLimitsByName } from './back-end.ts'

export interface ServeFlags extends BackEndFlags {
  readonly port: number
  readonly host: string
  readonly basePath: string
  readonly publicUrl?: string
  readonly cors?: boolean | CorsOptions
  readonly trustProxy?: TrustProxy
  readonly bodyLimit?: number
  readonly planLimits: PlanLimitsByName
  readonly key?: readonly FixedKey[]
  readonly insecureKeys?: true
  readonly demo?: true
  readonly seed?: number
  readonly log?: LogFormat
  readonly json?: true
  readonly controlPort?: number
  readonly drainDelay?: number
}

export function knownPlans(planLimits: PlanLimitsByName): string[] {
  return [...new Set([...Object.keys(defaultPlans), 'enterprise', ...Object.keys(planLimits)])]
}

const ENTERPRISE = { perMinute: 10_000, perDay: 1_000_000 }

/** Returns the limits for a demo key; `undefined` for the default limits of `free`, `pro` and `business`. */
export function demoLimits(plan: string, planLimits: PlanLimitsByName): PlanLimits | undefined {
  return planLimits[plan] ?? (plan === 'enterprise' ? ENTERPRISE : undefined)
}

export type LogFormat = 'text' | 'json'

export interface FixedKey {
  readonly plan: string
  readonly token: string
}

export function wholeNumber(minimum = 0, maximum = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const number = /^\d+$/.test(text) ? Number(text) : Number.NaN
    if (number >= minimum && number <= maximum) return number
    throw new Error(`Expected a whole number from ${minimum} to ${maximum}.`)
  }
}

/** Returns milliseconds. */
export function parseSeconds(text: string): number {
  const seconds = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : Number.NaN
  if (seconds <= 3_600) return Math.round(seconds * 1_000)
  throw new Error('Expected a number of seconds from 0 to 3600.')
}

export function parseServerUrl(text: string): string {
  if (!isHttpUrl(text))
    throw new Error(
      'Expected an address such as http://127.0.0.1:3000/v1, without a user name, a password and a query.',
    )
  return text.replace(/\/+$/, '')
}

/** The error message does not contain the token, because logs may show it. */
export function parseToken(text: string): string {
  if (!/^[\x21-\x7e]+$/.test(text)) throw new Error('Expected a token of visible ASCII characters.')
  return text
}

/** For an empty text, Node would listen on every IP address of the machine. */
export function parseHost(text: string): string {
  if (text.trim() === '') throw new Error('Expected an IP address or a host name, such as 127.0.0.1.')
  return text
}

/**
 * For an empty name, SQLite would open a temporary file, and drivers treat URIs differently. The URL of a database is rejected
 * because messages show the name of the file, and the URL may contain a password.
 */
export function parseFile(text: string): string {
  if (text.trim() === '' || /^(?::memory:$|file:|\w+:\/\/|[^/]+:[^/]+@)/.test(text))
    throw new Error('Expected the name of a file. URLs and :memory: are not accepted.')
  return text
}

export function parseOrigins(text: string): boolean | CorsOptions {
  if (text === '*' || text === 'true' || text === '1') return true
  if (text === 'false' || text === '0') return false
  return { origins: splitList(text) }
}

export function parseTrustProxy(text: string): TrustProxy {
  if (text === 'false') return false
  return /^\d{1,3}$/.test(text) ? Number(text) : splitList(text)
}

export function parseLogFormat(text: string): LogFormat {
  if (text === 'true' || text === '1') return 'text'
  if (text !== 'text' && text !== 'json') throw new Error('Expected text or json.')
  return text
}

/** Parses `pro=my-token`, or several such keys separated by commas, and adds them to the previous keys. */
export function parseKeys(text: string, previous: readonly FixedKey[] = []): readonly FixedKey[] {
  const keys = splitList(text).map((part) => {
    const [, plan, token] = /^([^=]+)=(.+)$/.exec(part) ?? []
    // The error message does not contain `part`, because `part` may be a token.
    if (plan === undefined || !isToken68(token))
      throw new Error('Expected plan=token with a token of letters, digits and -._~+/, such as pro=my-token.')
    return { plan, token }
  })
  const all = [...previous, ...keys]
  if (new Set(all.map(({ token }) => token)).size < all.length) throw new Error('Expected each token once.')
  return all
}

function splitList(text: string): string[] {
  return text.split(',').map((part) => part.trim())
}

/** Parses `free=10/100`, or several such limits separated by commas, and adds them to the previous limits. */
export function parsePlanLimits(text: string, previous: PlanLimitsByName): PlanLimitsByName {
  const entries = text.split(',').map((part) => {
    const [, plan, text] = /^([^=]+)=(.+)$/.exec(part) ?? []
    const limits = limitsIn(text)
    if (plan === undefined || limits === undefined)
      throw new Error('Expected plan=perMinute/perDay, whole numbers of at least 1, such as free=10/100.')
    return [plan, limits] as const
  })
  return { ...previous, ...Object.fromEntries(entries) }
}

export function parseLimits(text: string): PlanLimits {
  const limits = limitsIn(text)
  if (limits === undefined) throw new Error('Expected perMinute/perDay, whole numbers of at least 1, such as 10/100.')
  return limits
}

function limitsIn(text = ''): PlanLimits | undefined {
  const [, perMinute, perDay] = /^(\d{1,15})\/(\d{1,15})$/.exec(text) ?? []
  const limits = { perMinute: Number(perMinute), perDay: Number(perDay) }
  return limits.perMinute >= 1 && limits.perDay >= 1 ? limits : undefined
}

/** Returns milliseconds since the Unix epoch. */
export function parseExpiry(text: string, now = Date.now()): number {
  const [, day = ''] = /^(\d{4}-\d\d-\d\d)(?:T.*(?:Z|[+-]\d\d:?\d\d))?$/.exec(text) ?? []
  const time = isDay(day) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(time)) throw new Error('Expected a date such as 2030-01-31 (in UTC) or 2030-01-31T12:00Z.')
  if (time <= now) throw new Error('Expected a date in the future: the key would be refused from the start.')
  return time
}

/** `Date.parse` reads 30 February as 1 or 2 March. */
function isDay(text: string): boolean {
  const time = Date.parse(text)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}
