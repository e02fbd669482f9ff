import type { PlanLimits } from '../../src/index.ts'

/** The plans of the contract, whose limits a server knows; those of the last stand on its keys. */
export const contractPlans: readonly string[] = ['free', 'pro', 'business', 'enterprise']

/** Limits by plan, as the flag `--plan-limits` gives them. */
export type PlanLimitsByName = Readonly<Record<string, PlanLimits>>

/** Reads a TCP port. */
export function parsePort(text: string): number {
  const port = parseWholeNumber(text)
  if (port > 65_535) throw new Error('Expected a port from 0 to 65535.')
  return port
}

/** Reads a whole number. */
export function parseWholeNumber(text: string): number {
  const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (Number.isNaN(number)) throw new Error('Expected a whole number.')
  return number
}

/** Reads how many demo animals to add: a slip of the finger must not fill the memory. */
export function parseSeed(text: string): number {
  const count = parseWholeNumber(text)
  if (count > 1_000_000) throw new Error('Expected a whole number of at most 1000000.')
  return count
}

/** Reads an address to listen on. Node takes an empty one, as an unset variable gives it, for every address there is. */
export function parseHost(text: string): string {
  if (text.trim() === '') throw new Error('Expected an address or a name.')
  return text
}

/** Reads the name of a file. SQLite takes an empty one, as an unset variable gives it, for a file that it throws away; drivers differ on URIs. */
export function parseFile(text: string): string {
  if (text.trim() === '' || /^(?::memory:$|file:)/.test(text)) throw new Error('Expected the name of a file.')
  return text
}

/** Reads `free=10/100`, or several of these separated by commas, and adds them to what was read before. */
export function parsePlanLimits(text: string, previous: PlanLimitsByName): PlanLimitsByName {
  const entries = text.split(',').map((part) => {
    const [, plan, perMinute, perDay] = /^([^=]+)=(\d{1,15})\/(\d{1,15})$/.exec(part) ?? []
    const limits = { perMinute: Number(perMinute), perDay: Number(perDay) }
    if (plan === undefined || limits.perMinute < 1 || limits.perDay < 1) {
      throw new Error('Expected plan=perMinute/perDay, whole numbers of at least 1, such as free=10/100.')
    }
    return [plan, limits] as const
  })
  return { ...previous, ...Object.fromEntries(entries) }
}

/** Reads `10/100`: the limits of one key. */
export function parseLimits(text: string): PlanLimits {
  const [, perMinute, perDay] = /^(\d{1,15})\/(\d{1,15})$/.exec(text) ?? []
  const limits = { perMinute: Number(perMinute), perDay: Number(perDay) }
  if (!(limits.perMinute >= 1 && limits.perDay >= 1)) {
    throw new Error('Expected perMinute/perDay, whole numbers of at least 1, such as 10/100.')
  }
  return limits
}

/** Reads an instant, in milliseconds since the Unix epoch. */
export function parseInstant(text: string): number {
  const [, day = ''] = /^(\d{4}-\d\d-\d\d)(?:T.*(?:Z|[+-]\d\d:?\d\d))?$/.exec(text) ?? []
  const time = isDay(day) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(time)) throw new Error('Expected a date such as 2030-01-31 (in UTC) or 2030-01-31T12:00Z.')
  return time
}

/** Whether there is such a day: what is none, as 30 February, is counted on into the next month. */
function isDay(text: string): boolean {
  const time = Date.parse(text)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}
