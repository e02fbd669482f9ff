import * as z from 'zod/mini'
import { type NewPet, petStatuses } from '../../../src/model.ts'
import { operationNames } from '../../../src/operations.ts'
import { DEFAULT_MAX_NAME_LENGTH, petName } from '../../../src/schemas/pet.ts'
import { isTime } from '../../../src/support/time.ts'

export function toJsonSchema(schema: z.core.$ZodType, io: 'input' | 'output' = 'input') {
  const { $schema, ...jsonSchema } = z.toJSONSchema(schema, { io, unrepresentable: 'any', override: toInteger })
  return jsonSchema
}

/** Corrects the JSON Schema of Zod: gives `bigint` a type, and removes the bounds that Zod adds to other integers. */
const toInteger: z.core.ToJSONSchemaParams['override'] = ({ zodSchema, jsonSchema }) => {
  if (zodSchema._zod.def.type === 'bigint') Object.assign(jsonSchema, { type: 'integer', format: 'int64' })
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
}

const INSTANT = 'a time such as "2030-12-05T00:00:00Z", from 1970 to 9999'
function isInstant(text: string): boolean {
  const [, day = ''] = /^(\d{4}-\d\d-\d\d)T.*(?:Z|[+-]\d\d:\d\d)$/.exec(text) ?? []
  // `Date.parse` reads 30 February as 1 or 2 March. The JSON of an invalid date is `null`.
  return isTime(Date.parse(text)) && new Date(day).toJSON()?.startsWith(day) === true
}
const instant = z.string(INSTANT).check(z.refine(isInstant, INSTANT), z.meta({ format: 'date-time' }))
const writtenInstant = z.string().check(z.meta({ format: 'date-time' }))
const text = z.string('a string')

function integer(minimum: number, maximum = Number.MAX_SAFE_INTEGER) {
  const expected = `a whole number from ${minimum} to ${maximum}`
  return z.int(expected).check(z.minimum(minimum, expected), z.maximum(maximum, expected))
}

const limits = z.strictObject({ perMinute: integer(1), perDay: integer(1) }, '{ perMinute, perDay }')

const described = <Schema extends z.ZodMiniType>(schema: Schema, text: string) => schema.check(z.describe(text))

const SECONDS = 'a number of seconds from 0 to 10000000000'
const seconds = z.number(SECONDS).check(z.minimum(0, SECONDS), z.maximum(1e10, SECONDS))
export const clockBody = z.union(
  [
    z.strictObject({ set: described(instant, 'Stops the clock at this time.') }),
    z.strictObject({ advanceSeconds: described(seconds, 'Moves the clock forward. A running clock keeps running.') }),
    z.strictObject({ follow: described(z.literal(true, 'true'), 'Follows the real time again.') }),
  ],
  '{ "set": time }, { "advanceSeconds": number } or { "follow": true }',
)
export const clockState = z.object({
  now: writtenInstant,
  running: described(z.boolean(), 'Whether the clock moves on as real time passes. Otherwise, it stands still.'),
})

const oneOf = <Name extends string>(names: readonly Name[]) => z.enum(names, `one of ${names.join(', ')}`)
const PARTS = ['storage', 'keys', 'quota'] as const
const part = described(oneOf(PARTS), 'The part of the back end that fails or waits.')
const connection = described(
  z.literal('connection', '"connection"'),
  'After the store has carried the request out, it closes the connection without a response.',
)
const quota = described(
  z.literal('quota', '"quota"'),
  'Requests get 429, as if the requests of this minute were used up. They are not counted.',
)
const operation = described(
  z.optional(oneOf(operationNames)),
  'The only operation that the fault affects, if the part is storage or connection. Default: all operations.',
)
const calls = described(
  z.optional(integer(1)),
  'The number of calls that the fault affects. If absent, it affects all calls until it is removed.',
)
const status = described(
  z.optional(z.literal([500, 503], '500 or 503')),
  'The status that clients get. Default: 503, as if the database were unavailable.',
)
const milliseconds = described(integer(1, 600_000), 'How long each call waits.')
const NO_OPERATION = { error: 'no operation: faults of keys and quota affect all operations', path: ['operation'] }

/** Returns the schema of an object with these members only. */
function fault<Shape extends z.core.$ZodShape>(shape: Shape) {
  return z.strictObject(shape, `only ${Object.keys(shape).join(', ')}`)
}

export const faultBody = z
  .discriminatedUnion(
    'action',
    [
      fault({ part, action: z.literal('fail'), operation, calls, status }),
      fault({ part, action: z.literal('delay'), operation, calls, milliseconds }),
      fault({ part: connection, action: z.literal('break'), operation, calls }),
      fault({ part: quota, action: z.literal('refuse'), calls }),
    ],
    '"fail" or "delay" for the parts storage, keys and quota, "break" for the connection, or "refuse" for quota',
  )
  .check(
    z.refine(
      ({ part, ...fault }) => !('operation' in fault && fault.operation) || !['keys', 'quota'].includes(part),
      NO_OPERATION,
    ),
  )
export const faults = z.array(
  z.object({
    part: z.enum([...PARTS, 'connection']),
    action: z.enum(['fail', 'delay', 'break', 'refuse']),
    operation: z.optional(z.enum(operationNames)),
    calls: described(z.optional(z.int()), 'How many calls are left; absent if the fault lasts until it is removed.'),
    milliseconds: z.optional(z.int()),
    status: z.optional(z.int()),
  }),
)

export const keyBody = z.strictObject(
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
  createdAt: described(z.int(), 'Milliseconds since the Unix epoch.'),
  expiresAt: z.optional(z.int()),
  revokedAt: z.optional(z.int()),
})
export const keys = z.array(key)
export const issuedKey = z.object({ token: z.string(), key })

const petMembers = {
  name: petName(DEFAULT_MAX_NAME_LENGTH),
  categoryId: z.bigint(),
  status: z.optional(z.enum(petStatuses)),
} satisfies Record<keyof NewPet, z.ZodMiniType>
export const pets = z.array(z.object({ id: z.bigint(), ...petMembers, name: z.string() }))
/** Accepts any value: this schema sees integers that `JSON.parse` may have rounded. `parseNewPet` checks the exact animal. */
const checkedLater = z.unknown().check(z.meta(toJsonSchema(z.object(petMembers))))
export const petsBody = z.union(
  [
    z.strictObject({ pets: described(z.array(checkedLater), 'The animals to add.') }),
    z.strictObject({ count: described(integer(1, 10_000), 'The number of demo animals to add.') }),
  ],
  '{ "pets": [{ "name", "categoryId", "status"? }] } or { "count": number }',
)

const LIMIT = 'a whole number from 1 to 1000'
const digits = z.string(LIMIT).check(z.regex(/^[1-9]\d*$/, LIMIT))
export const requestsQuery = z.object({
  limit: z._default(z.pipe(z.pipe(digits, z.transform(Number)), integer(1, 1_000)), 100),
})
export const journal = z.object({
  total: described(z.int(), 'The number of requests in the journal, which keeps the last 1,000.'),
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
