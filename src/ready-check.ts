import * as z from 'zod/mini'
import { newToken } from './keys/token.ts'
import type { BackEnd, Clock } from './ports.ts'
import { callOrLog, readableError } from './reports/observers.ts'
import { clock, functionOf, optionsOf, parseOptions, timeout } from './schemas/options.ts'
import { systemClock, withTimeout } from './support/time.ts'

/** Resolves to the names of the failing parts: `storage`, `keys`, `quota`. An empty list means that the back end is ready. */
export type ReadyCheck = () => Promise<readonly string[]>

/** The options of {@link readyCheck}. */
export interface ReadyCheckOptions {
  /** How long a check of one part may take, in milliseconds. @default 2000 */
  readonly timeout?: number | undefined
  /** The clock that measures how old a result is. @default the system clock */
  readonly clock?: Clock | undefined
  /** Called for each failing part, with the error. @default logs to `console.error` */
  readonly onFailure?: ((part: string, error: unknown) => void) | undefined
}

const readyCheckOptions = optionsOf<ReadyCheckOptions>({
  timeout: z.optional(timeout),
  clock: z.optional(clock),
  onFailure: z.optional(functionOf<NonNullable<ReadyCheckOptions['onFailure']>>()),
})

/** How long a result is reused, in milliseconds. Without reuse, frequent probes would burden the back end. */
const REUSED_FOR = 1_000
/** Limits that no probe reaches. */
const LIMITS = { perMinute: 1_000_000, perDay: 1_000_000_000 }

/**
 * Returns a function that calls each part of a back end once, for the probe of a load balancer. Reuses a result for one second.
 * @throws {PetStoreError} `invalid_option`, with the name of the option
 * @example
 * ```ts
 * import { createPetStore, memory, readyCheck } from 'petstore-kit'
 * import { serve } from 'petstore-kit/node'
 *
 * const backEnd = memory()
 * const server = await serve(createPetStore({ ...backEnd }), { port: 0, checkReady: readyCheck(backEnd) })
 * console.log((await fetch(`${server.url}/ready`)).status) // 200
 * await server.close()
 * ```
 */
export function readyCheck({ storage, keyStore, quota }: BackEnd, options: ReadyCheckOptions = {}): ReadyCheck {
  const { timeout = 2_000, clock = systemClock, onFailure = logFailure } = parseOptions(readyCheckOptions, options)
  const probes: Readonly<Record<string, () => unknown>> = {
    storage: () => storage.list({ limit: 1 }),
    // A new token is in no cache, so the key store itself has to respond.
    keys: () => keyStore.find(newToken()),
    quota: () =>
      quota.spend({ subject: 'petstore:ready', anonymous: true, limits: LIMITS, ban: false, now: clock.now() }),
  }
  const check = async () => {
    const results = await Promise.all(
      Object.entries(probes).map(async ([part, probe]) => {
        try {
          await withTimeout((async () => probe())(), timeout, () => new Error(`no response within ${timeout} ms`))
          return []
        } catch (error) {
          callOrLog('onFailure', onFailure, logFailure, part, error)
          return [part]
        }
      }),
    )
    return results.flat()
  }
  let checkedAt = Number.NEGATIVE_INFINITY
  let result: Promise<readonly string[]> = Promise.resolve([])
  let isRunning = false
  return () => {
    if (!isRunning && Math.abs(clock.now() - checkedAt) >= REUSED_FOR) {
      isRunning = true
      result = check().finally(() => {
        isRunning = false
        checkedAt = clock.now()
      })
    }
    return result
  }
}

function logFailure(part: string, error: unknown): void {
  console.error(`petstore-kit: not ready: ${part}: ${readableError(error)}`)
}
