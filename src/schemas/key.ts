import * as z from 'zod/mini'
import { type KeyAccess, keyStates } from '../model.ts'
import type { AdoptOptions, IssueOptions, KeyChanges, KeyQuery, RotateOptions } from '../ports.ts'
import { expecting } from './expected.ts'
import { LIMITS, limits } from './limits.ts'
import { describeSecret, oneOf, optionsOf, textThat, wholeNumber } from './options.ts'
import { isStorable } from './text.ts'
import { TIME, time } from './time.ts'

const PLAN = 'the name of a plan, without U+0000 and lone surrogates'
const ACCOUNT = 'a string that is not empty, without U+0000 and lone surrogates'
const LABEL = 'a string without U+0000 and lone surrogates'
const ACCESS = 'read or write'

export const plan = textThat((text) => text !== '' && isStorable(text), PLAN)
const account = textThat((text) => text !== '' && isStorable(text), ACCOUNT)
const label = textThat(isStorable, LABEL)
const access: z.ZodMiniType<KeyAccess> = oneOf('read', 'write')

/** The members of a new key that have the same form in programs and in JSON. */
export const keyShape = {
  plan,
  account: z.optional(account),
  limits: z.optional(limits),
  label: z.optional(label),
  access: z.optional(access),
}

const issueShape = { ...keyShape, expiresAt: z.optional(time) }

/** The options of a new key. */
export const issueOptions = optionsOf<IssueOptions>(issueShape)

/** The SHA-256 of a token. Not shown in errors: a caller may pass the token itself by mistake. */
const tokenSha256 = z.pipe(
  textThat(
    (text) => /^[0-9a-f]{64}$/i.test(text),
    expecting('the SHA-256 of the token in hexadecimal, which has 64 digits', describeSecret),
  ),
  z.transform((text: string) => text.toLowerCase()),
)

/** A token that a caller passes instead of its SHA-256. Not shown in errors, unlike other unknown options. */
const noToken = z.optional(
  z.undefined(expecting('none: pass tokenSha256, the SHA-256 of the token in hexadecimal', describeSecret)),
)

/** The options of a key that gets a new token, or the token of a customer. */
export const newKeyOptions = optionsOf<IssueOptions & Partial<AdoptOptions>>(
  { ...issueShape, tokenSha256: z.optional(tokenSha256) },
  { others: { token: noToken } },
)

/** The options of a key with the token of a customer, as one line of a file has them. */
export const adoptOptions = optionsOf<AdoptOptions>(
  { tokenSha256, ...issueShape },
  { expected: 'an object with tokenSha256 and plan' },
)

/** Returns a schema that also accepts `null`, which removes the member from the key. */
function removable<T>(schema: z.ZodMiniType<T>, expected: string) {
  return z.optional(z.union([schema, z.null()], expecting(`${expected}, or null`)))
}

/** The changes of a key. */
export const keyChanges = optionsOf<KeyChanges>({
  plan: z.optional(plan),
  account: removable(account, ACCOUNT),
  limits: removable(limits, LIMITS),
  label: removable(label, LABEL),
  access: removable(access, ACCESS),
  expiresAt: removable(time, TIME),
})

/** The id of a key. Not shown in errors: a caller may pass the token by mistake. */
export const keyId = textThat(
  (text) => text !== '' && !text.startsWith('pet_'),
  expecting('the id of a key, not its token', describeSecret),
)

const filter = { account: z.optional(account), state: z.optional(oneOf(...keyStates)) }

/** The largest number of keys in one page. */
export const MAX_KEYS = 1_000

export const keyQuery = optionsOf<KeyQuery>({
  ...filter,
  after: z.optional(keyId),
  limit: z._default(wholeNumber(1, MAX_KEYS), 100),
})
export const keyFilter = optionsOf<Omit<KeyQuery, 'after' | 'limit'>>(filter)

/** The longest overlap of two tokens: a year. */
const MAX_OVERLAP = 31_536_000

export const overlap = wholeNumber(0, MAX_OVERLAP, 'seconds')
export const rotateOptions = optionsOf<RotateOptions>({ overlapSeconds: z._default(overlap, 0) })
