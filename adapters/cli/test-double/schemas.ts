import * as z from 'zod/mini'
import type { ApiKey, IssueOptions, PetChanges } from '../../../src/index.ts'
import { operationNames } from '../../../src/operations.ts'
import { expecting, type Shape } from '../../../src/schemas/expected.ts'
import { int64 } from '../../../src/schemas/int64.ts'
import { toJsonSchema } from '../../../src/schemas/json-schema.ts'
import { keyId, keyShape } from '../../../src/schemas/key.ts'
import { limits } from '../../../src/schemas/limits.ts'
import { optionsOf, positiveInteger, textThat, wholeNumber } from '../../../src/schemas/options.ts'
import { DEFAULT_MAX_NAME_LENGTH, newPet, petName, petStatus } from '../../../src/schemas/pet.ts'
import { countParameter } from '../../../src/schemas/query.ts'
import { textFor } from '../../../src/schemas/text.ts'
import { describeValue } from '../../../src/support/describe-value.ts'
import { isInstant } from '../../../src/support/time.ts'
import { chance, faultDelay, seed } from '../../../src/testing/store/fault-list.ts'

const INSTANT = 'a time such as "2030-12-05T00:00:00Z", from 1970 to 9999'
const instant = textThat(isInstant, INSTANT).check(z.meta({ format: 'date-time' }))
const writtenInstant = z.string().check(z.meta({ format: 'date-time' }))
const described = <Schema extends z.ZodMiniType>(schema: Schema, text: string) => schema.check(z.describe(text))

const SECONDS = expecting('a number of seconds from 0 to 10000000000')
const seconds = z.number(SECONDS).check(z.minimum(0, SECONDS), z.maximum(1e10, SECONDS))
export const clockBody = z.union(
  [
    z.strictObject({ set: described(instant, 'Stops the clock at this time.') }),
    z.strictObject({ advanceSeconds: described(seconds, 'Moves the clock forward. A running clock keeps running.') }),
    z.strictObject({ follow: described(z.literal(true, expecting('true')), 'Follows the real time again.') }),
  ],
  expecting('{ "set": time }, { "advanceSeconds": number } or { "follow": true }'),
)
export const clockState = z.object({
  now: writtenInstant,
  running: described(z.boolean(), 'Whether the clock moves on as real time passes. Otherwise, it stands still.'),
})

const oneOf = <Name extends string>(names: readonly Name[]) => z.enum(names, expecting(`one of ${names.join(', ')}`))
const PARTS = ['storage', 'keys', 'quota'] as const
const part = described(oneOf(PARTS), 'The part of the back end that fails.')
const delayedPart = described(
  oneOf([...PARTS, 'connection'] as const),
  'What waits: a part of the back end, within the time limit of its calls, or the connection, which delays the response.',
)
const connection = described(
  z.literal('connection', expecting('"connection"')),
  'After the store has carried the request out, it closes the connection without a response.',
)
const quota = described(
  z.literal('quota', expecting('"quota"')),
  'Requests get 429, as if the requests of this minute were used up. They are not counted.',
)
const operation = described(
  z.optional(oneOf(operationNames)),
  'The only operation that the fault affects, if the part is storage or connection. Default: all operations.',
)
const calls = described(
  z.optional(positiveInteger),
  'The number of calls that the fault affects. If absent, it affects all calls until it is removed.',
)
const status = described(
  z.optional(z.literal([500, 503], expecting('500 or 503'))),
  'The status that clients get. Default: 503, as if the database were unavailable.',
)
const milliseconds = described(
  faultDelay,
  'How long each call or response waits. A range such as [100, 800] stands for random waits.',
)
const key = described(
  z.optional(keyId),
  'The id of the only key that the fault affects. A fault of quota affects all keys of its account. Default: all requests.',
)
const random = {
  chance: described(z.optional(chance), 'How likely the fault affects a call. Default: 1.'),
  seed: described(
    z.optional(seed),
    'With the same seed, the same requests in the same order get the same failures and waits. Default: a random seed.',
  ),
}
const NO_OPERATION = {
  ...expecting('no operation: faults of keys and quota affect all operations', () => 'one'),
  path: ['operation'],
}

/** Returns the schema of an object with these members only. */
function only<Shape extends z.core.$ZodShape>(shape: Shape) {
  const names = Object.keys(shape).join(', ')
  return z.strictObject(shape, {
    error: (issue) =>
      `expected only ${names}, got ${issue.code === 'unrecognized_keys' ? issue.keys.join(', ') : describeValue(issue.input)}`,
  })
}

export const faultBody = z
  .discriminatedUnion(
    'action',
    [
      only({ part, action: z.literal('fail'), operation, key, calls, ...random, status }),
      only({ part: delayedPart, action: z.literal('delay'), operation, key, calls, ...random, milliseconds }),
      only({ part: connection, action: z.literal('break'), operation, key, calls, ...random }),
      only({ part: quota, action: z.literal('refuse'), key, calls, ...random }),
    ],
    expecting(
      '"fail" or "delay" for the parts storage, keys and quota, "break" or "delay" for the connection, or "refuse" for quota',
      (value) => describeValue(typeof value === 'object' ? Object(value).action : value),
    ),
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
    key: z.optional(z.string()),
    chance: z.optional(z.number()),
    seed: described(z.optional(z.int()), 'The seed, also if it is random, so that the fault can be repeated.'),
    milliseconds: z.optional(faultDelay),
    status: z.optional(z.int()),
  }),
)

interface KeyBody extends Omit<IssueOptions, 'expiresAt'> {
  readonly expiresAt?: string | undefined
}

export const keyBody = optionsOf<KeyBody>(
  { ...keyShape, expiresAt: z.optional(instant) },
  { expected: 'an object with plan, and optional account, label, limits and expiresAt' },
)
const apiKey = z.object({
  id: z.string(),
  plan: z.string(),
  account: z.optional(z.string()),
  label: z.optional(z.string()),
  limits: z.optional(limits),
  createdAt: described(z.int(), 'Milliseconds since the Unix epoch.'),
  expiresAt: z.optional(z.int()),
  revokedAt: z.optional(z.int()),
  access: z.optional(z.enum(['read', 'write'])),
  suspendedAt: z.optional(z.int()),
  lastUsedOn: described(z.optional(z.string()), 'The last UTC day on which a request had this key.'),
  previousTokenExpiresAt: z.optional(z.int()),
  tokenExpiresAt: z.optional(z.int()),
} satisfies Shape<ApiKey>)
export const keys = z.array(apiKey)
export const issuedKey = z.object({ token: z.string(), key: apiKey })

export { pet, pets } from '../../../src/schemas/pet.ts'

/**
 * Accepts any value: this schema sees integers that `JSON.parse` may have rounded. The operation
 * checks the exact value. Only the document uses `schema`.
 */
const checkedLater = (schema: z.ZodMiniType) => z.unknown().check(z.meta(toJsonSchema(schema)))

const newPets = z.array(checkedLater(newPet()), expecting('an array of animals'))
export const petsBody = z.union(
  [
    z.strictObject({ pets: described(newPets, 'The animals to add.') }),
    z.strictObject({ count: described(wholeNumber(1, 10_000), 'The number of demo animals to add.') }),
  ],
  expecting('{ "pets": [{ "name", "categoryId", "status"? }] } or { "count": number }'),
)

const statusFilter = z.optional(petStatus())
export const petsQuery = only({ status: described(statusFilter, 'Shows only animals with this status.') })
export const conditionQuery = only({
  ifStatus: described(statusFilter, 'The operation has an effect only if the animal has this status.'),
})
const changes = z.strictObject({
  name: z.optional(petName(DEFAULT_MAX_NAME_LENGTH)),
  categoryId: z.optional(int64()),
  status: z.optional(petStatus()),
} satisfies Shape<PetChanges>)
/** The id of an animal in a path. Only the document uses it. */
export const petId = int64()
export const changesBody = checkedLater(changes).check(z.meta({ minProperties: 1 }))

const numberParameter = (minimum: number, maximum: number, pattern = /^\d{1,15}$/, unit = 'a whole number') => {
  const expected = expecting(`${unit} from ${minimum} to ${maximum}`)
  return z.pipe(
    textFor((text) => (pattern.test(text) ? Number(text) : undefined), expected),
    z.number(expected).check(z.minimum(minimum, expected), z.maximum(maximum, expected)),
  )
}
const LONGEST_WAIT = 60

export const requestsQuery = only({
  operation: described(z.optional(oneOf(operationNames)), 'Shows only requests for this operation.'),
  status: described(z.optional(numberParameter(100, 599)), 'Shows only requests whose response has this status.'),
  after: described(
    z._default(numberParameter(0, Number.MAX_SAFE_INTEGER), 0),
    'Shows only requests with a greater id.',
  ),
  wait: described(
    z._default(numberParameter(0, LONGEST_WAIT, /^\d+(?:\.\d{1,3})?$/, 'a number of seconds'), 0),
    'How many seconds to wait for a request with a response that fits, if there is none yet.',
  ),
  limit: z._default(countParameter(1_000), 100),
})
export const journal = z.object({
  total: described(z.int(), 'The number of requests in the journal, which keeps the last 1,000.'),
  requests: z.array(
    z.object({
      id: described(z.int(), 'The number of the request. It grows with each request, also over a reset.'),
      operation: described(z.optional(z.enum(operationNames)), 'Absent if the path or the method has none.'),
      time: writtenInstant,
      method: z.string(),
      path: z.string(),
      headers: z.record(z.string(), z.string()),
      body: z.string(),
      requestId: described(z.optional(z.string()), 'The id in `X-Request-Id` of the response, with `--request-id`.'),
      response: z.nullable(z.object({ status: z.int(), headers: z.record(z.string(), z.string()), body: z.string() })),
    }),
  ),
})
