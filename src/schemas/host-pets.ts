import * as z from 'zod/mini'
import { MAX_LIMIT, type Pet, type PetChanges, type PetMembers, type PetStatus } from '../model.ts'
import type { PetQuery } from '../ports.ts'
import { expecting } from './expected.ts'
import { IDEMPOTENCY_KEY, KEY_EXPECTED } from './idempotency-key.ts'
import { hostInt64 } from './int64.ts'
import { optionsOf, textThat, wholeNumber } from './options.ts'
import { hostMembers, type NewPetRules, type PetInput, petStatus, petsWithIds } from './pet.ts'
import { DEFAULT_LIMIT } from './query.ts'
import { isStorable } from './text.ts'

/** The longest prefix of idempotency keys: a colon and a number follow it. */
const LONGEST_PREFIX = 200

const once = textThat((text) => IDEMPOTENCY_KEY.test(text), KEY_EXPECTED)
const oncePrefix = textThat(
  (text) => IDEMPOTENCY_KEY.test(text) && text.length <= LONGEST_PREFIX,
  `1 to ${LONGEST_PREFIX} visible ASCII characters or spaces`,
)

/** New values, or the values of a condition: at least one, because an empty condition is a mistake. */
function someOf(name: z.ZodMiniType<string>): z.ZodMiniType<PetChanges> {
  const members = {
    name: z.optional(name),
    categoryId: z.optional(hostInt64()),
    status: z.optional(petStatus()),
  }
  const isGiven = (values: PetChanges) => Object.values(values).some((value) => value !== undefined)
  const expected = `a value for at least one of ${Object.keys(members).join(', ')}`
  return optionsOf<PetChanges>(members).check(z.refine(isGiven, expecting(expected)))
}

// Not the rule of a new name: an animal may be older than the present `maxNameLength`.
const condition = someOf(textThat(isStorable, 'a string without U+0000 and lone surrogates'))

const filter = { status: z.optional(petStatus()), after: z.optional(hostInt64()) }

/** The options of `petStore.pets` that do not depend on the rules of the store. */
export const hostPetOptions = {
  id: hostInt64(),
  pets: z.custom<Iterable<PetInput> | AsyncIterable<PetInput>>(
    (value) => Symbol.iterator in Object(value) || Symbol.asyncIterator in Object(value),
    expecting('an array or a stream of animals'),
  ),
  add: optionsOf<{ readonly once?: string | undefined }>({ once: z.optional(once) }),
  addAll: optionsOf<{ readonly once?: string | undefined }>({ once: z.optional(oncePrefix) }),
  change: optionsOf<{ readonly if?: PetChanges | undefined }>({ if: z.optional(condition) }),
  list: optionsOf<PetQuery>({ ...filter, limit: z._default(wholeNumber(1, MAX_LIMIT), DEFAULT_LIMIT) }),
  all: optionsOf<Omit<PetQuery, 'limit'>>(filter),
  count: optionsOf<{ readonly status?: PetStatus | undefined }>({ status: filter.status }),
}

/** Returns the schemas of the animals that a host adds and changes. */
export function hostPetSchemas(rules: NewPetRules) {
  const members = hostMembers(rules)
  return {
    newPet: optionsOf<PetMembers>(members, { expected: 'an animal with name and categoryId' }),
    restored: petsWithIds(
      optionsOf<Pet>({ ...members, id: hostInt64(1n) }, { expected: 'an animal with id, name and categoryId' }),
    ),
    changes: someOf(members.name),
  }
}

export type HostPetSchemas = ReturnType<typeof hostPetSchemas>
