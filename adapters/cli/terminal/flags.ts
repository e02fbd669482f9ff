import { InvalidArgumentError } from 'commander'
import * as z from 'zod/mini'
import type { CorsOptions, PetStoreOptions, PlanLimits } from '../../../src/index.ts'
import { isToken68 } from '../../../src/keys/authenticate.ts'
import { defaultPlans } from '../../../src/model.ts'
import { storeShape } from '../../../src/options.ts'
import { problemText } from '../../../src/schemas/expected.ts'
import { int64, parseInt64 } from '../../../src/schemas/int64.ts'
import { limits } from '../../../src/schemas/limits.ts'
import { newPet, petStatus } from '../../../src/schemas/pet.ts'
import { time } from '../../../src/schemas/time.ts'
import { isHttpUrl, trimEndOf } from '../../../src/support/text.ts'
import type { FaultDelay } from '../../../src/testing/index.ts'
import type { TrustProxy } from '../../hosts/node/index.ts'

export type PlanLimitsByName = Readonly<Record<string, PlanLimits>>

/** Where animals and keys are stored. */
export interface DatabaseFlags {
  readonly data?: string
  readonly databaseUrl?: string
}

export interface BackEndFlags extends DatabaseFlags {
  readonly redisUrl?: string
}

export interface ServeFlags extends BackEndFlags, Pick<PetStoreOptions, 'publicUrl' | 'cors' | 'bodyLimit' | 'sunset'> {
  readonly port: number
  readonly host: string
  readonly basePath: string
  readonly trustProxy?: TrustProxy
  readonly planLimits: PlanLimitsByName
  readonly key?: readonly FixedKey[]
  readonly insecureKeys?: true
  readonly demo?: true
  readonly seed?: number
  readonly pets?: string
  readonly standardRateLimitHeaders?: true
  readonly requestId?: true
  readonly readOnly?: true
  readonly log?: LogFormat
  readonly json?: true
  readonly controlPort?: number
  readonly controlHost?: string
  readonly controlSecret?: string
  readonly insecureControl?: true
  readonly drainDelay?: number
  readonly delay?: FaultDelay
  readonly fail?: number
  readonly faultSeed?: number
}

export function knownPlans(planLimits: PlanLimitsByName): string[] {
  return [...new Set([...Object.keys(defaultPlans), 'enterprise', ...Object.keys(planLimits)])]
}

const ENTERPRISE = { perMinute: 10_000, perDay: 1_000_000 }

/**
 * Returns the limits for a demo key; `undefined` for the default limits of `free`, `pro` and
 * `business`.
 */
export function demoLimits(plan: string, planLimits: PlanLimitsByName): PlanLimits | undefined {
  return planLimits[plan] ?? (plan === 'enterprise' ? ENTERPRISE : undefined)
}

export type LogFormat = 'text' | 'json'

export interface FixedKey {
  readonly plan: string
  readonly token: string
}

/**
 * Returns a parser that throws if `read` returns `undefined`. The error does not contain the text,
 * which may be a secret.
 */
function expecting<Value>(expected: string, read: (text: string) => Value | undefined): (text: string) => Value {
  return (text) => {
    const value = read(text)
    if (value === undefined) throw new InvalidArgumentError(`Expected ${expected}.`)
    return value
  }
}

/**
 * Returns a parser of texts that a schema accepts. The error does not contain the text, which may
 * be a secret.
 */
function valid<Value>(schema: z.ZodMiniType<Value>, read: (text: string) => unknown): (text: string) => Value {
  return (text) => {
    const parsed = schema.safeParse(read(text))
    if (parsed.success) return parsed.data
    const [expected = ''] = problemText(parsed.error).split(', got ', 1)
    throw new InvalidArgumentError(`${expected.replace(/^e/, 'E')}.`)
  }
}

export const parseSunset = valid(z.nonoptional(storeShape.sunset), (text) => text)

export const parsePetName = valid(newPet().shape.name, (text) => text)
export const parseCategoryId = valid(int64(), parseInt64)
export const parseStatus = valid(petStatus(), (text) => text)

/** Each id of an animal is at least 1. */
export const parsePetId = expecting('the id of an animal, such as 5', (text) => {
  const id = parseInt64(text)
  return id !== undefined && id > 0n ? id : undefined
})

export const parseAgain = expecting('1 to 100 visible ASCII characters', (text) =>
  /^[\x21-\x7e]{1,100}$/.test(text) ? text : undefined,
)

function matching(pattern: RegExp, expected: string): (text: string) => string {
  return expecting(expected, (text) => (pattern.test(text) ? text : undefined))
}

/** Returns a parser of whole numbers that a schema accepts. */
export function wholeNumber(schema: z.ZodMiniType<number>): (text: string) => number {
  return valid(schema, (text) => (/^\d+$/.test(text) ? Number(text) : text))
}

export const parseSeconds = expecting('a number of seconds from 0 to 3600', (text) =>
  /^\d+(?:\.\d+)?$/.test(text) && Number(text) <= 3_600 ? Math.round(Number(text) * 1_000) : undefined,
)

const LONGEST_DELAY = 600_000

export const parseDelay = expecting(
  `milliseconds such as 300, or a range such as 100-800, up to ${LONGEST_DELAY}`,
  (text): FaultDelay | undefined => {
    const [, first, second] = /^(\d{1,6})(?:-(\d{1,6}))?$/.exec(text) ?? []
    const shortest = Number(first)
    const longest = Number(second ?? first)
    if (!(shortest <= longest && longest <= LONGEST_DELAY)) return undefined
    return second === undefined ? shortest : [shortest, longest]
  },
)

export const parseChance = expecting('a chance from 0 to 1, such as 0.1', (text) =>
  /^(?:\d+(?:\.\d+)?|\.\d+)$/.test(text) && Number(text) <= 1 ? Number(text) : undefined,
)

export const parseServerUrl = expecting(
  'an address such as http://127.0.0.1:3000/v1, without a user name, password or query',
  (text) => (isHttpUrl(text) ? trimEndOf(text, '/') : undefined),
)

export const parseToken = matching(/^[\x21-\x7e]+$/, 'a token of visible ASCII characters')

/** The secret is part of an address, so it has only characters that need no escape there. */
export const parseControlSecret = matching(
  /^[\w\-.~]{8,200}$/,
  'a secret of 8 to 200 letters, digits and -._~, such as openssl rand -hex 16 prints',
)

/** For an empty text, Node would listen on every IP address of the machine. */
export const parseHost = matching(/\S/, 'an IP address or a host name, such as 127.0.0.1')

/**
 * Rejects an empty name, because SQLite would open a temporary file; `file:`, because each driver
 * reads it in its own way; and URLs of databases, because they may contain a password, and messages
 * would show it as part of a file name.
 */
export const parseFile = expecting('the name of a file. URLs and :memory: are not accepted', (text) => {
  const isOther = text.trim() === '' || text === ':memory:' || text.startsWith('file:') || /^\w+:\/\//.test(text)
  return isOther || hasCredentials(text) ? undefined : text
})

/** Returns whether a text begins like `user:password@host`, a URL without its scheme. */
function hasCredentials(text: string): boolean {
  const [start = ''] = text.split('/', 1)
  const colon = start.indexOf(':', 1)
  return colon !== -1 && start.lastIndexOf('@') > colon + 1
}

/** Accepts the name of a SQLite file, or the URL of a PostgreSQL database. */
export function parseStore(text: string): string {
  return isPostgresUrl(text) ? text : parseFile(text)
}

export function isPostgresUrl(text: string): boolean {
  return /^postgres(?:ql)?:/.test(text)
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

export const parseLogFormat = expecting('text or json', (text): LogFormat | undefined => {
  if (text === 'json') return 'json'
  return ['text', 'true', '1'].includes(text) ? 'text' : undefined
})

const tokenIn = expecting('plan=token with a token of letters, digits and -._~+/, such as pro=my-token', (text) =>
  isToken68(text) ? text : undefined,
)

/**
 * Parses `pro=my-token`, or several such keys separated by commas, and adds them to the previous
 * keys.
 */
export function parseKeys(text: string, previous: readonly FixedKey[] = []): readonly FixedKey[] {
  const all = [...previous, ...pairsIn(text, tokenIn).map(([plan, token]) => ({ plan, token }))]
  if (new Set(all.map(({ token }) => token)).size < all.length)
    throw new InvalidArgumentError('Expected each token once.')
  return all
}

const limitsOfPlan = expecting('plan=perMinute/perDay, whole numbers of at least 1, such as free=10/100', limitsIn)

/**
 * Parses `free=10/100`, or several such limits separated by commas, and adds them to the previous
 * limits.
 */
export function parsePlanLimits(text: string, previous: PlanLimitsByName): PlanLimitsByName {
  return { ...previous, ...Object.fromEntries(pairsIn(text, limitsOfPlan)) }
}

export const parseLimits = expecting('perMinute/perDay, whole numbers of at least 1, such as 10/100', limitsIn)

function limitsIn(text: string): PlanLimits | undefined {
  const [, perMinute, perDay] = /^(\d{1,15})\/(\d{1,15})$/.exec(text) ?? []
  return limits.safeParse({ perMinute: Number(perMinute), perDay: Number(perDay) }).data
}

/**
 * Reads a list such as `pro=a,free=b`. For a part without a name or a value, `read` gets an empty
 * text.
 */
function pairsIn<Value>(text: string, read: (text: string) => Value): [string, Value][] {
  return splitList(text).map((part) => {
    const [, name = '', value = ''] = /^([^=]+)=(.+)$/.exec(part) ?? []
    return [name, read(value)]
  })
}

function splitList(text: string): string[] {
  return text.split(',').map((part) => part.trim())
}

/** Accepts what `petStore.keys` accepts, and returns milliseconds since the Unix epoch. */
export const parseTime = expecting(
  'a time such as 2030-01-31 (the start of this UTC day), 2030-01-31T12:00Z, or milliseconds since the Unix epoch',
  (text) => time.safeParse(/^\d+$/.test(text) ? Number(text) : text).data,
)

interface SecretFlags {
  readonly databaseUrl?: string
  readonly redisUrl?: string
  readonly from?: string
  readonly to?: string
  readonly key?: string | readonly { readonly token: string }[]
  readonly limitedKey?: string
  readonly readOnlyKey?: string
  readonly controlSecret?: string
}

/**
 * Returns the secrets in the flags of a command, which no output may contain: the passwords of
 * URLs, the tokens of keys, and the secret of the control API.
 */
export function secretsOf(flags: SecretFlags): string[] {
  const { key = [], limitedKey, readOnlyKey, controlSecret, databaseUrl, redisUrl, from, to } = flags
  const tokens = [key, limitedKey ?? [], readOnlyKey ?? [], controlSecret ?? []]
    .flat()
    .map((one) => (typeof one === 'string' ? one : one.token))
  return [...tokens, ...[databaseUrl, redisUrl, from, to].flatMap(passwordsOf)]
}

/** Returns the passwords in a URL, as they stand there and decoded. */
export function passwordsOf(url: string | undefined): string[] {
  if (url === undefined || !URL.canParse(url)) return []
  const { password, searchParams } = new URL(url)
  return [password, decoded(password), searchParams.get('password') ?? ''].filter((text) => text !== '')
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
