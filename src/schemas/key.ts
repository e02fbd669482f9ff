import * as z from 'zod/mini'
import type { IssueOptions, KeyChanges } from '../ports.ts'
import { looksLikeSeconds } from '../support/time.ts'
import { expecting } from './expected.ts'
import { LIMITS, limits } from './limits.ts'
import { listOf, optionsOf, textThat } from './options.ts'
import { isStorable } from './text.ts'

const PLAN = 'the name of a plan, without U+0000 and lone surrogates'
const ACCOUNT = 'a string that is not empty, without U+0000 and lone surrogates'
const LABEL = 'a string without U+0000 and lone surrogates'
const EXPIRY = 'whole milliseconds since the Unix epoch, not seconds, such as date.getTime()'

export const plan = textThat((text) => text !== '' && isStorable(text), PLAN)
/** The names of plans that a back end accepts besides the default ones. */
export const planNames = listOf(plan, 'a list of the names of plans')
const account = textThat((text) => text !== '' && isStorable(text), ACCOUNT)
const label = textThat(isStorable, LABEL)
const expiry = { ...expecting(EXPIRY), abort: true }
const expiresAt = z.int(expiry).check(z.refine((time) => !looksLikeSeconds(time), expiry))

/** The members of a new key that have the same form in programs and in JSON. */
export const keyShape = {
  plan,
  account: z.optional(account),
  limits: z.optional(limits),
  label: z.optional(label),
}

/** The options of a new key. */
export const issueOptions = optionsOf<IssueOptions>({ ...keyShape, expiresAt: z.optional(expiresAt) })

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
  expiresAt: removable(expiresAt, EXPIRY),
})
