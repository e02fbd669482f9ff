import { codeOf } from '../../../src/errors.ts'
import { createPetStore, type Keys, type PlanLimits } from '../../../src/index.ts'
import { defaultPlans } from '../../../src/model.ts'
import { withCounts } from '../engines/back-end.ts'
import { requireFile } from '../engines/sqlite-file.ts'
import { type BackEndFlags, knownPlans, type PlanLimitsByName } from '../terminal/flags.ts'
import { printable } from '../terminal/output.ts'

export interface KeysFlags extends BackEndFlags {
  readonly planLimits?: PlanLimitsByName
}

/** Calls `use` with the keys of a database, and closes it. Creates the file if it is missing. */
export function withKeys<T>({ planLimits, ...flags }: KeysFlags, use: (keys: Keys) => Promise<T>): Promise<T> {
  return withCounts(flags, ({ storage, keyStore, quota }) =>
    use(createPetStore({ storage, keyStore, quota, plans: planLimits }).keys),
  )
}

/** As {@link withKeys}, but does not create the file of a mistyped name. */
export async function withExistingKeys<T>(flags: KeysFlags, use: (keys: Keys) => Promise<T>): Promise<T> {
  if (flags.data !== undefined) requireFile(flags.data)
  return withKeys(flags, use)
}

/** Calls `use` with the keys of a database, for one key of it. Errors about this key are for the terminal. */
export async function withKey<T>(id: string, flags: KeysFlags, use: (keys: Keys) => Promise<T>): Promise<T> {
  rejectToken(id)
  try {
    return await withExistingKeys(flags, use)
  } catch (error) {
    const code = codeOf(error)
    // The text is not shown: it may be a token of another form.
    if (code === 'key_not_found') throw new Error('there is no key with this id: petstore keys list shows the ids')
    if (code === 'key_revoked') throw alreadyRevoked(id)
    throw error
  }
}

/** The error does not contain the token, because logs may show the message. */
export function rejectToken(id: string): void {
  if (id.startsWith('pet_')) throw new Error('expected the id of the key, as petstore keys list shows it; got a token')
}

export function alreadyRevoked(id: string): Error {
  return new Error(`the key ${id} is already revoked`)
}

/**
 * Returns what is wrong with the plan of a key, or `undefined`. With a key of a plan without limits, a server
 * would respond to each request with 500.
 */
export function planProblem(
  plan: string,
  limits: PlanLimits | undefined,
  planLimits: PlanLimitsByName,
): string | undefined {
  if (limits !== undefined || hasLimits(plan, planLimits)) return undefined
  const advice = (name: string) =>
    `repeat the --plan-limits of the server, such as --plan-limits ${name}=10/100, or give this key its own limits`
  if (plan === 'enterprise') return `limits: the plan enterprise has no limits of its own: ${advice(plan)}`
  const plans = knownPlans(planLimits).map(printable).join(', ')
  return `plan: expected one of ${plans}; for a plan of your own, ${advice('gold')}`
}

/** Returns whether the limits of a plan are known. */
export function hasLimits(plan: string, planLimits: PlanLimitsByName): boolean {
  return Object.hasOwn({ ...defaultPlans, ...planLimits }, plan)
}
