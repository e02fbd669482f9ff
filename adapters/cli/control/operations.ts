import * as z from 'zod/mini'
import { type ApiResponse, jsonResponse } from '../../../src/http/response.ts'
import { writePets } from '../../../src/pets/json.ts'
import { newPetSchema, parseNewPet } from '../../../src/pets/schemas.ts'
import { demoPet } from '../demo-data.ts'
import type { TestDouble } from './test-double.ts'

/** An operation of the control API. The router and the OpenAPI document both come from the list of operations. */
export interface Operation {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** The path, such as `/keys/{id}`. */
  readonly path: string
  readonly id: string
  readonly summary: string
  readonly body?: z.ZodMiniType
  readonly query?: z.ZodMiniObject
  readonly response: { readonly status: number; readonly description: string; readonly body?: z.ZodMiniType }
  /** The errors that only this operation has. */
  readonly errors?: Readonly<Record<number, string>>
  run(double: TestDouble, input: OperationInput): ApiResponse | Promise<ApiResponse>
}

/** The checked input of an operation. */
export interface OperationInput {
  readonly body: unknown
  /** The body with a `bigint` for each integer, since a number would round the ids of animals. */
  readonly exactBody: unknown
  readonly query: unknown
  /** The parameter of the path; empty if it has none. */
  readonly id: string
}

const INSTANT = 'a time such as "2030-12-05T00:00:00Z"'
const isInstant = (text: string) =>
  /^\d{4}-\d\d-\d\dT.*(?:Z|[+-]\d\d:\d\d)$/.test(text) && !Number.isNaN(Date.parse(text))
const instant = z.string(INSTANT).check(z.refine(isInstant, INSTANT), z.meta({ format: 'date-time' }))
/** A time in a response. */
const writtenInstant = z.string().check(z.meta({ format: 'date-time' }))
const text = z.string('a string')

/** A whole number in a range. */
function integer(minimum: number, maximum?: number) {
  const expected =
    maximum === undefined ? `a whole number of at least ${minimum}` : `a whole number from ${minimum} to ${maximum}`
  const schema = z.int(expected).check(z.minimum(minimum, expected))
  return maximum === undefined ? schema : schema.check(z.maximum(maximum, expected))
}

const limits = z.strictObject({ perMinute: integer(1), perDay: integer(1) }, '{ perMinute, perDay }')

const SECONDS = 'a number of seconds from 0 to 10000000000'
const clockBody = z.union(
  [
    z.strictObject({ set: instant.check(z.describe('Stops the clock at this time.')) }),
    z.strictObject({
      advanceSeconds: z
        .number(SECONDS)
        .check(
          z.minimum(0, SECONDS),
          z.maximum(1e10, SECONDS),
          z.describe('Moves the clock forward. A running clock keeps running.'),
        ),
    }),
    z.strictObject({ follow: z.literal(true, 'true').check(z.describe('Follows the real time again.')) }),
  ],
  '{ "set": time }, { "advanceSeconds": number } or { "follow": true }',
)
const clockState = z.object({
  now: writtenInstant,
  running: z.boolean().check(z.describe('Whether the clock runs with the real time.')),
})

const PARTS = ['storage', 'keys', 'quota'] as const
const part = z
  .enum(PARTS, `one of ${PARTS.join(', ')}`)
  .check(z.describe('The part of the back end that fails or waits.'))
const calls = z
  .optional(integer(1))
  .check(z.describe('The number of calls to which the fault applies. Without it, all until the fault is removed.'))
const faultBody = z.union(
  [
    z.strictObject({
      part,
      action: z.literal('fail'),
      calls,
      status: z
        .optional(z.literal([500, 503], '500 or 503'))
        .check(z.describe('The status that clients get. Default: 503, as for an engine that is away.')),
    }),
    z.strictObject({
      part,
      action: z.literal('delay'),
      calls,
      milliseconds: integer(1, 600_000).check(z.describe('How long each call waits.')),
    }),
  ],
  '{ "part": "storage", "keys" or "quota", "action": "fail", "calls"?: number, "status"?: 500 or 503 } or { "part", "action": "delay", "milliseconds": number, "calls"?: number }',
)

const keyBody = z.strictObject(
  {
    plan: z.string('the name of a plan').check(z.minLength(1, 'the name of a plan')),
    account: z.optional(text),
    label: z.optional(text),
    limits: z.optional(limits),
    expiresAt: z.optional(instant),
  },
  'an object with plan, and optional account, label, limits and expiresAt',
)
const key = z.object({
  id: z.string(),
  plan: z.string(),
  account: z.optional(z.string()),
  label: z.optional(z.string()),
  limits: z.optional(limits),
  createdAt: z.int().check(z.describe('Milliseconds since the Unix epoch.')),
  expiresAt: z.optional(z.int()),
  revokedAt: z.optional(z.int()),
})

const MAX_DEMO_PETS = 10_000
const int64 = z.number().check(z.meta({ type: 'integer', format: 'int64' }))
const newPet = z.object({
  name: z.string(),
  categoryId: int64,
  status: z.optional(z.enum(['available', 'pending', 'sold'])),
})
const pet = z.extend(newPet, { id: int64 })
/** The schema of the pet store checks the animals: its messages name each field. */
const checkedLater = z.unknown().check(z.meta(jsonSchemaOf(newPet)))
const petsBody = z.union(
  [
    z.strictObject({ pets: z.array(checkedLater).check(z.describe('The animals to add.')) }),
    z.strictObject({
      count: integer(1, MAX_DEMO_PETS).check(z.describe('The number of demo animals to add.')),
    }),
  ],
  '{ "pets": [{ "name", "categoryId", "status"? }] } or { "count": number }',
)

const MAX_LIMIT = 1_000
const LIMIT = `a whole number from 1 to ${MAX_LIMIT}`
const limit = z.pipe(z.string(LIMIT).check(z.regex(/^(?:[1-9]\d{0,2}|1000)$/, LIMIT)), z.transform(Number))
const requestsQuery = z.object({
  limit: z.optional(limit).check(z.meta({ type: 'integer', minimum: 1, maximum: MAX_LIMIT, default: 100 })),
})
const journal = z.object({
  total: z.int().check(z.describe('The number of requests in the journal, which keeps the last 1,000.')),
  requests: z.array(
    z.object({
      time: writtenInstant,
      method: z.string(),
      path: z.string(),
      headers: z.record(z.string(), z.string()),
      body: z.string(),
      response: z.nullable(z.object({ status: z.int(), headers: z.record(z.string(), z.string()), body: z.string() })),
    }),
  ),
})

/** The request headers in the journal. */
const HEADERS = ['accept', 'authorization', 'content-type', 'origin', 'user-agent', 'x-forwarded-for']

const noContent: ApiResponse = { status: 204, headers: ['Cache-Control', 'no-store'], body: '' }

const clockResponse = ({ clock }: TestDouble) =>
  json(200, { now: new Date(clock.now()).toISOString(), running: clock.isRunning() })

/** The operations of the control API. */
export const operations: readonly Operation[] = [
  {
    method: 'POST',
    path: '/reset',
    id: 'reset',
    summary: 'Return to the start: its animals and keys, the real time, no counts, no faults, an empty journal.',
    response: { status: 204, description: 'The pet store is as it was at the start.' },
    async run(double) {
      await double.reset()
      return noContent
    },
  },
  {
    method: 'GET',
    path: '/clock',
    id: 'getClock',
    summary: 'Read the clock.',
    response: { status: 200, description: 'The clock.', body: clockState },
    run: clockResponse,
  },
  {
    method: 'POST',
    path: '/clock',
    id: 'moveClock',
    summary: 'Stop the clock at a time, move it forward, or follow the real time again.',
    body: clockBody,
    response: { status: 200, description: 'The clock.', body: clockState },
    run(double, input) {
      const body = input.body as z.output<typeof clockBody>
      const { clock } = double
      if ('set' in body) clock.set(Date.parse(body.set))
      else if ('advanceSeconds' in body) clock.advance(body.advanceSeconds * 1_000)
      else clock.follow()
      return clockResponse(double)
    },
  },
  {
    method: 'POST',
    path: '/faults',
    id: 'addFault',
    summary: 'Make a part of the back end fail or wait.',
    body: faultBody,
    response: { status: 204, description: 'The fault applies to the next requests.' },
    run({ faults }, input) {
      const fault = input.body as z.output<typeof faultBody>
      const target = faults[fault.part === 'keys' ? 'keyStore' : fault.part]
      if (fault.action === 'delay') {
        target.delay(fault.milliseconds, fault.calls)
        return noContent
      }
      const error = fault.status === 500 ? new Error('The control API makes this call fail.') : undefined
      if (fault.calls === undefined) target.fail(error)
      else target.failTimes(fault.calls, error)
      return noContent
    },
  },
  {
    method: 'DELETE',
    path: '/faults',
    id: 'removeFaults',
    summary: 'Remove all faults.',
    response: { status: 204, description: 'Every part works.' },
    run({ faults }) {
      for (const target of Object.values(faults)) target.recover()
      return noContent
    },
  },
  {
    method: 'POST',
    path: '/keys',
    id: 'issueKey',
    summary: 'Issue an API key.',
    body: keyBody,
    response: {
      status: 201,
      description: 'The key and its token.',
      body: z.object({ token: z.string(), key }),
    },
    async run(double, input) {
      const { expiresAt, ...options } = input.body as z.output<typeof keyBody>
      const end = expiresAt === undefined ? undefined : Date.parse(expiresAt)
      return json(201, await double.ports().keyStore.issue({ ...options, expiresAt: end }))
    },
  },
  {
    method: 'GET',
    path: '/keys',
    id: 'listKeys',
    summary: 'List the API keys, without their tokens.',
    response: { status: 200, description: 'The keys, the oldest first.', body: z.array(key) },
    run: async (double) => json(200, await double.ports().keyStore.list()),
  },
  {
    method: 'DELETE',
    path: '/keys/{id}',
    id: 'revokeKey',
    summary: 'Revoke an API key.',
    response: { status: 204, description: 'The key is revoked.' },
    errors: { 404: 'There is no valid key with this id.' },
    run: async (double, { id }) =>
      (await double.ports().keyStore.revoke(id))
        ? noContent
        : problem(404, 'key_not_found', `There is no valid key ${JSON.stringify(id)}. GET /keys lists the keys.`),
  },
  {
    method: 'POST',
    path: '/pets',
    id: 'addPets',
    summary: 'Add animals without a request to the pet store.',
    body: petsBody,
    response: { status: 201, description: 'The animals with their ids.', body: z.array(pet) },
    async run(double, input) {
      const body = input.exactBody as { pets: readonly unknown[] } | { count: bigint }
      const schema = newPetSchema(1_000)
      const pets =
        'pets' in body
          ? body.pets.map((pet) => parseNewPet(schema, pet))
          : Array.from({ length: Number(body.count) }, (_, index) => demoPet(index))
      const { storage } = double.ports()
      const added = await Promise.all(
        pets.map(async ({ name, categoryId, status = 'available' }) => storage.create({ name, categoryId, status })),
      )
      return jsonResponse(201, writePets(added))
    },
  },
  {
    method: 'GET',
    path: '/requests',
    id: 'listRequests',
    summary: 'Read the journal: the latest requests to the pet store, the oldest first.',
    query: requestsQuery,
    response: { status: 200, description: 'The requests and their responses.', body: journal },
    run({ requests }, input) {
      const { limit = 100 } = input.query as z.output<typeof requestsQuery>
      const latest = requests.slice(-limit).map(({ time, method, path, header, body, response }) => ({
        time: new Date(time).toISOString(),
        method,
        path,
        headers: Object.fromEntries(
          HEADERS.flatMap((name) => {
            const value = header(name)
            return value === undefined ? [] : [[name, value]]
          }),
        ),
        body,
        response: response
          ? { status: response.status, headers: Object.fromEntries(response.headers), body: response.body }
          : null,
      }))
      return json(200, { total: requests.length, requests: latest })
    },
  },
  {
    method: 'DELETE',
    path: '/requests',
    id: 'clearRequests',
    summary: 'Clear the journal.',
    response: { status: 204, description: 'The journal is empty.' },
    run({ requests }) {
      requests.length = 0
      return noContent
    },
  },
]

function json(status: number, value: unknown): ApiResponse {
  return jsonResponse(status, JSON.stringify(value))
}

/** Returns an error response of the control API, which has the form of the pet store's errors. */
export function problem(status: number, code: string, message: string, headers: readonly string[] = []): ApiResponse {
  return jsonResponse(status, JSON.stringify({ code, message, status }), headers)
}

/** Returns the JSON Schema of what a client sends or receives. */
export function jsonSchemaOf(schema: z.ZodMiniType): Record<string, unknown> {
  const { $schema, ...rest } = z.toJSONSchema(schema, { io: 'input' })
  return rest
}
