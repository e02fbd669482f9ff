import * as z from 'zod/mini'
import { type ErrorCode, errorTable } from '../../../errors.ts'
import { problemText } from '../../../schemas/expected.ts'
import { pet, petStatus } from '../../../schemas/pet.ts'
import { difference, show } from '../ports/report.ts'
import type { ContractResponse } from './client.ts'

export function check(holds: boolean, what: string): void {
  if (!holds) throw new Error(what)
}

/** Compares plain values deeply. A member that is `undefined` counts as absent. */
export function checkEqual(actual: unknown, expected: unknown, what: string): void {
  check(difference(actual, expected) === undefined, `${what}: expected ${show(expected)}, got ${show(actual)}`)
}

export function expectStatus({ name, status, text }: ContractResponse, expected: number): void {
  check(status === expected, `${name}: expected status ${expected}, got ${status} with ${text}`)
}

export function expectJson(response: ContractResponse, status: number): void {
  expectStatus(response, status)
  const [type = ''] = (response.headers.get('Content-Type') ?? '').toLowerCase().split(';')
  checkEqual(type.trim(), 'application/json', `${response.name}: Content-Type`)
}

/** Checks an error response: its status, and the members of docs/interface.md, section 2. */
export function expectError(response: ContractResponse, status: number): void {
  expectJson(response, status)
  const { name, text } = response
  const error = Object(response.json) as Record<string, unknown>
  check(typeof error.code === 'string' && error.code !== '', `${name}: expected a code, got ${text}`)
  check(typeof error.message === 'string', `${name}: expected a message, got ${text}`)
  checkEqual(error.status, BigInt(status), `${name}: status in the body`)
}

/**
 * Checks an error response of this project: its code and headers, and that it has no other members.
 * Returns the message.
 */
export function expectCode(response: ContractResponse, code: ErrorCode, headers: HeaderValues = {}): string {
  const { status } = errorTable[code]
  expectError(response, status)
  const { message, ...others } = response.json as { message: string }
  checkEqual(others, { code, status: BigInt(status) }, `${response.name}: the body, apart from its message`)
  expectHeaders(response, headers)
  return message
}

/** The values of headers; `null` if a header must be absent. */
type HeaderValues = Readonly<Record<string, string | null>>

export function expectHeaders({ name, headers }: ContractResponse, expected: HeaderValues): void {
  for (const [header, value] of Object.entries(expected)) checkEqual(headers.get(header), value, `${name}: ${header}`)
}

/** An animal of docs/interface.md, whose `status` may be missing. */
const contractPet = z.extend(pet, { status: z.optional(petStatus()) })
export type ContractPet = z.infer<typeof contractPet>

export function expectPet(response: ContractResponse, status: number): ContractPet {
  expectJson(response, status)
  const { json, name } = response
  const parsed = contractPet.safeParse(json)
  if (parsed.success) return parsed.data
  throw new Error(`${name}: expected an animal, got ${show(json)}: ${problemText(parsed.error)}`)
}

export function expectPets(response: ContractResponse): readonly ContractPet[] {
  expectJson(response, 200)
  const { json, name, text } = response
  if (!Array.isArray(json)) throw new Error(`${name}: expected an array, got ${text}`)
  return json.map((pet) => expectPet({ ...response, json: pet }, 200))
}

/** Checks the rate-limit headers (docs/interface.md, section 8.2), and returns their values. */
export function expectRateLimit({ name, headers }: ContractResponse) {
  const read = (header: string) => {
    const value = headers.get(header) ?? ''
    check(/^\d+$/.test(value), `${name}: expected an integer in ${header}, got ${value || 'no such header'}`)
    return Number(value)
  }
  const limit = read('X-RateLimit-Limit')
  const remaining = read('X-RateLimit-Remaining')
  check(remaining <= limit, `${name}: expected X-RateLimit-Remaining of at most ${limit}, got ${remaining}`)
  return { limit, remaining, reset: read('X-RateLimit-Reset') }
}
