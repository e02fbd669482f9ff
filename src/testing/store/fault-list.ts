import * as z from 'zod/mini'
import type { ApiKey } from '../../model.ts'
import { type OperationName, operationNames } from '../../operations.ts'
import { subjectOf } from '../../quota/rate-limit.ts'
import { expecting } from '../../schemas/expected.ts'
import { keyId } from '../../schemas/key.ts'
import { LONGEST_DELAY, milliseconds, oneOf, optionsOf, positiveInteger, wholeNumber } from '../../schemas/options.ts'
import { parseOption } from '../../schemas/parse-options.ts'
import { boundedMap } from '../../support/bounded-map.ts'

/** The requests that a fault affects. */
export interface FaultScope {
  /** Only requests for this operation. @default all requests */
  readonly operation?: OperationName | undefined
  /** Only requests with the API key of this id. @default requests with any key, or none */
  readonly key?: string | undefined
  /** How likely the fault affects one of these requests, from 0 to 1. @default 1 */
  readonly chance?: number | undefined
  /**
   * With the same seed, the same requests in the same order get the same failures and delays. A whole
   * number from 0 to 4294967295. @default a random one
   */
  readonly seed?: number | undefined
}

/** How long a call waits, in milliseconds: always the same, or a random length from the first to the second. */
export type FaultDelay = number | readonly [shortest: number, longest: number]

/**
 * One fault. The control API of `petstore serve` has the same members, with `status` instead of
 * `error`.
 */
export interface Fault extends FaultScope {
  readonly part: 'storage' | 'keys' | 'quota' | 'connection'
  readonly action: 'fail' | 'delay' | 'break' | 'refuse'
  /** How many more calls have this fault. */
  readonly calls: number
  /** The error of a call that fails. @default `service_unavailable` */
  readonly error?: unknown
  readonly milliseconds?: FaultDelay | undefined
}

const MAX_SEED = 2 ** 32 - 1
const CHANCE = expecting('a number from 0 to 1')
export const chance = z.number(CHANCE).check(z.minimum(0, CHANCE), z.maximum(1, CHANCE))
export const seed = wholeNumber(0, MAX_SEED)
const DELAY = expecting(
  `a whole number of milliseconds from 0 to ${LONGEST_DELAY}, or a range such as [100, 800] with the shorter wait first`,
)
export const faultDelay: z.ZodMiniType<FaultDelay> = z.union(
  [
    milliseconds,
    z.tuple([milliseconds, milliseconds], DELAY).check(z.refine(([shortest, longest]) => shortest <= longest, DELAY)),
  ],
  DELAY,
)
export const faultScope = optionsOf<FaultScope>({
  operation: z.optional(oneOf(...operationNames)),
  key: z.optional(keyId),
  chance: z.optional(chance),
  seed: z.optional(seed),
})
/** How many calls fail. `Infinity`, which `z.int` rejects, means: until the fault is removed. */
const times = z.union(
  [positiveInteger, z.custom<number>((value) => value === Number.POSITIVE_INFINITY)],
  expecting('a whole number of at least 1'),
)

/** A request, as far as faults depend on it. */
export interface FaultyRequest {
  readonly operation?: OperationName | undefined
  /** Returns whether this is the id of its key. */
  hasKey(id: string): boolean
}

interface ActiveFault extends Fault {
  calls: number
  readonly random: () => number
}

/** How many keys are remembered. */
const MAX_KEYS = 10_000

/**
 * The faults of a store from one reset to the next. A request that arrived before a reset must not
 * use up a later fault.
 */
export type FaultList = ReturnType<typeof createFaultList>

/** @param initial - the faults that the list has from the start */
export function createFaultList(initial: readonly Fault[] = []) {
  /** The newest fault is the first. */
  let faults: readonly ActiveFault[] = []
  /** The id of the key of each token. */
  const ids = boundedMap<string>(MAX_KEYS)
  /** The subject of each key, by its id. */
  const subjects = boundedMap<string>(MAX_KEYS)

  /**
   * Adds a fault, unless it has no effect, such as a delay of 0. Removes an older fault of the same
   * part and action with the same scope.
   */
  function add(fault: Fault): void {
    parseOption('times', times, fault.calls)
    const isOther = (old: Fault) =>
      old.part !== fault.part ||
      old.action !== fault.action ||
      old.operation !== fault.operation ||
      old.key !== fault.key
    const isRandom = (fault.chance ?? 1) < 1 || typeof fault.milliseconds === 'object'
    const seed = isRandom ? (fault.seed ?? randomSeed()) : undefined
    // Without the action, faults with the same seed would always affect the same requests.
    const random = randomNumbers((seed ?? 0) + ACTIONS.indexOf(fault.action))
    const hasEffect = fault.chance !== 0 && fault.milliseconds !== 0
    faults = [...(hasEffect ? [{ ...fault, seed, random }] : []), ...faults.filter(isOther)]
  }

  /**
   * Counts one call: returns the newest fault that affects it, and removes this fault after its
   * last call.
   */
  function take(part: Fault['part'], action: Fault['action'], request: FaultyRequest): ActiveFault | undefined {
    const found = faults.find(
      (fault) => fault.part === part && fault.action === action && isAbout(fault, request) && isHit(fault),
    )
    if (found) found.calls -= 1
    if (found?.calls === 0) faults = faults.filter((other) => other !== found)
    return found
  }

  for (const fault of initial) add(fault)
  return {
    add,
    take,
    /** Returns how long a call waits, in milliseconds. */
    takeDelay(part: Fault['part'], request: FaultyRequest): number {
      const fault = take(part, 'delay', request)
      const { milliseconds = 0 } = fault ?? {}
      if (typeof milliseconds === 'number') return milliseconds
      const [shortest, longest] = milliseconds
      return shortest + Math.floor((fault?.random() ?? 0) * (longest - shortest + 1))
    },
    /** Removes the faults of a part, or only those with this operation and this key. */
    remove(part: Fault['part'], { operation, key }: FaultScope): void {
      const isMeant = (fault: Fault) =>
        fault.part === part && (operation ?? fault.operation) === fault.operation && (key ?? fault.key) === fault.key
      faults = faults.filter((fault) => !isMeant(fault))
    },
    clear() {
      faults = []
    },
    inForce: (): readonly Fault[] => faults.map(({ random, ...fault }) => fault),
    /** Remembers the key of a token, because quota stores and connections know no key. */
    remember(token: string, key: ApiKey) {
      ids.set(token, key.id)
      subjects.set(key.id, subjectOf(key))
    },
    keyIdOf: (token: string) => ids.get(token),
    /** Returns the subject whose requests are counted together with those of a key. */
    subjectOf: (keyId: string) => subjects.get(keyId),
  }
}

const ACTIONS: readonly Fault['action'][] = ['fail', 'delay', 'break', 'refuse']

function isAbout({ operation, key }: Fault, request: FaultyRequest): boolean {
  return (operation ?? request.operation) === request.operation && (key === undefined || request.hasKey(key))
}

function isHit({ chance = 1, random }: ActiveFault): boolean {
  return chance === 1 || random() < chance
}

export function randomSeed(): number {
  return Math.floor(Math.random() * (MAX_SEED + 1))
}

/** Returns a function that returns numbers from 0 to below 1, the same for the same seed: mulberry32. */
function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
