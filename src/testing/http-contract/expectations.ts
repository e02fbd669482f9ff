import { isPet, type Pet, petStatuses } from '../../model.ts'
import { same, show } from '../contract/report.ts'
import type { ContractResponse } from './client.ts'

export function check(holds: boolean, what: string): void {
  if (!holds) throw new Error(what)
}

/** Compares plain values deeply. A member that is `undefined` counts as absent. */
export function checkEqual(actual: unknown, expected: unknown, what: string): void {
  check(same(actual, expected), `${what}: expected ${show(expected)}, got ${show(actual)}`)
}

export function expectStatus(response: ContractResponse, status: number): void {
  check(
    response.status === status,
    `${response.name}: expected status ${status}, got ${response.status} with ${response.text}`,
  )
}

export function expectJson(response: ContractResponse, status: number): void {
  expectStatus(response, status)
  const [type = ''] = (response.headers.get('Content-Type') ?? '').toLowerCase().split(';')
  checkEqual(type.trim(), 'application/json', `${response.name}: Content-Type`)
}

/** Checks an error response: its status, and the members of docs/interface.md, section 2. Returns the code. */
export function expectError(response: ContractResponse, status: number): string {
  expectJson(response, status)
  const error = Object(response.json) as Record<string, unknown>
  check(typeof error.code === 'string' && error.code !== '', `${response.name}: expected a code, got ${response.text}`)
  check(typeof error.message === 'string', `${response.name}: expected a message, got ${response.text}`)
  checkEqual(error.status, BigInt(status), `${response.name}: status in the body`)
  return error.code as string
}

/** Checks an error response of this project: its code, and that it has no other members. Returns the message. */
export function expectCode(response: ContractResponse, status: number, code: string): string {
  expectError(response, status)
  const { message, ...others } = response.json as { message: string }
  checkEqual(others, { code, status: BigInt(status) }, `${response.name}: the error without its message`)
  return message
}

/** Checks the value of a header; `null` means that the header must be absent. */
export function expectHeader({ name, headers }: ContractResponse, header: string, expected: string | null): void {
  checkEqual(headers.get(header), expected, `${name}: ${header}`)
}

export function expectPet(response: ContractResponse, status: number): Pet {
  expectJson(response, status)
  return toPet(response.json, response.name)
}

export function expectPets(response: ContractResponse): readonly Pet[] {
  expectJson(response, 200)
  const { json, name } = response
  if (!Array.isArray(json)) throw new Error(`${name}: expected an array, got ${response.text}`)
  return json.map((pet) => toPet(pet, name))
}

function toPet(value: unknown, name: string): Pet {
  if (isPet(value)) return value
  const statuses = petStatuses.join(', ')
  const expected = `an animal with the integers id and categoryId, the string name, and no status or one of ${statuses}`
  throw new Error(`${name}: expected ${expected}, got ${show(value)}`)
}

/** Checks the rate-limit headers (docs/interface.md, section 8.2), and returns their values. */
export function expectRateLimit({ name, headers }: ContractResponse) {
  const read = (header: string) => {
    const value = headers.get(header) ?? ''
    check(/^\d+$/.test(value), `${name}: expected an integer in ${header}, got ${value || 'no such header'}`)
    return Number(value)
  }
  const [limit, remaining] = [read('X-RateLimit-Limit'), read('X-RateLimit-Remaining')]
  check(remaining <= limit, `${name}: expected X-RateLimit-Remaining of at most ${limit}, got ${remaining}`)
  return { limit, remaining, reset: read('X-RateLimit-Reset') }
}
