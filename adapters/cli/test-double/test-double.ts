import {
  type BackEnd,
  type Clock,
  createPetStore,
  type InitialPet,
  type IssuedKey,
  memory,
  type PetStorage,
  type PlanLimits,
} from '../../../src/index.ts'
import { memoryKeyStore } from '../../../src/memory/keys.ts'
import { invalidOption } from '../../../src/schemas/options.ts'
import { isTime } from '../../../src/support/time.ts'
import type { Fault } from '../../../src/testing/store/fault-list.ts'
import { createRestartable, forwarding } from '../../../src/testing/store/restartable.ts'
import { type Service, withoutFaultsOfPage } from '../faults/service.ts'

/**
 * Creates a clock that follows the real time with an offset, or stands still. Times are in
 * milliseconds since the Unix epoch.
 */
export function steerableClock(real: Clock) {
  let stoppedAt: number | undefined
  let offset = 0
  const now = () => (stoppedAt ?? real.now()) + offset
  /** Stops the clock at `time`. Without `time`, lets the clock follow the real time. */
  function set(time?: number) {
    stoppedAt = time
    offset = 0
  }
  return {
    now,
    isRunning: () => stoppedAt === undefined,
    set,
    /**
     * Moves the time; a running clock keeps running. Throws `invalid_option` if the new time would
     * be after the year 9999.
     */
    advance(milliseconds: number) {
      if (!isTime(now() + milliseconds))
        throw invalidOption('advanceSeconds', 'a time up to the end of the year 9999', milliseconds / 1_000)
      offset += milliseconds
    },
    follow: () => set(),
  }
}

interface TestDoubleParts {
  /**
   * Called at the start and after each reset: the old pet store would remember which clients are
   * over their limit.
   */
  readonly createService: (backEnd: BackEnd, clock: Clock) => Service
  /** The animals at the start and after each reset. */
  readonly pets?: readonly InitialPet[]
  /** Adds more animals at the start and after each reset. */
  readonly addPets: (storage: PetStorage) => Promise<void>
  /** The keys at the start and after each reset. */
  readonly keys?: readonly IssuedKey[]
  /** The limits of plans that the control API can issue keys for, besides the default ones. */
  readonly plans?: Readonly<Record<string, PlanLimits>>
  readonly clock: Clock
  /** The faults at the start and after each reset. @default none */
  readonly faults?: readonly Fault[]
}

/** A pet store in memory that tests in any language can control over HTTP. */
export type TestDouble = Awaited<ReturnType<typeof createTestDouble>>

export async function createTestDouble(parts: TestDoubleParts) {
  const clock = steerableClock(parts.clock)
  const createParts = async (withFaults: (backEnd: BackEnd) => BackEnd) => {
    const { storage, quota } = memory({ clock, pets: parts.pets })
    const backEnd = { storage, keyStore: memoryKeyStore(clock, parts.keys), quota }
    await parts.addPets(storage)
    const createService = (ports: BackEnd) => parts.createService(ports, clock)
    const { keys } = createPetStore({ ...backEnd, clock, plans: parts.plans })
    return { backEnd, ...withoutFaultsOfPage(createService, backEnd, withFaults(backEnd)), keys }
  }
  const { current, restart, petStore, control, journal } = await createRestartable(clock, createParts, parts.faults)
  let resets = 0
  return {
    journal,
    faults: control,
    petStore: { ...petStore, ready: () => current().petStore.ready() },
    pets: forwarding(() => current().pets),
    keys: forwarding(() => current().keys),
    clock,
    resets: () => resets,
    usageOf: (token: string) => current().usageOf(token),
    keyOf: (token: string) => current().keyOf(token),
    /**
     * Returns the current back end, without the injected faults. Each reset creates a new back end.
     */
    backEnd: () => current().backEnd,
    async reset() {
      await restart()
      clock.follow()
      resets++
    },
  }
}
