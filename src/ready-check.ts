import * as z from 'zod/mini'
import { lastSuccessOf } from './guard-ports.ts'
import { newToken } from './keys/token.ts'
import type { BackEnd, Clock } from './ports.ts'
import { callOrLog, readableError } from './reports/observers.ts'
import { clock, functionOf, optionsOf, timeout } from './schemas/options.ts'
import { parseOptions } from './schemas/parse-options.ts'
import { sharedCalls } from './support/shared-calls.ts'
import { systemClock, withTimeout } from './support/time.ts'

/**
 * Resolves to the names of the failing parts: `storage`, `keys`, `quota`. An empty list means that
 * the back end is ready.
 */
export type ReadyCheck = () => Promise<readonly string[]>

/** The options of {@link readyCheck}. */
export interface ReadyCheckOptions {
  /** How long a check of one part may take, in milliseconds. @default 2000 */
  readonly timeout?: number | undefined
  /**
   * The clock that measures how old a result is. Use the clock of the pet store.
   * @default the system clock
   */
  readonly clock?: Clock | undefined
  /** Called when a part begins to fail, with the error. @default logs to `console.error` */
  readonly onFailure?: ((part: string, error: unknown) => void) | undefined
  /**
   * Called when a part that has failed is ready again.
   * @default logs to `console.error`, unless you pass `onFailure`
   */
  readonly onRecovery?: ((part: string) => void) | undefined
}

const readyCheckOptions = optionsOf<ReadyCheckOptions>({
  timeout: z.optional(timeout),
  clock: z.optional(clock),
  onFailure: z.optional(functionOf<NonNullable<ReadyCheckOptions['onFailure']>>()),
  onRecovery: z.optional(functionOf<NonNullable<ReadyCheckOptions['onRecovery']>>()),
})

/**
 * How long a result is reused, in milliseconds. Without reuse, frequent probes would burden the
 * back end.
 */
const REUSED_FOR = 1_000
/**
 * How long the call of a request that has succeeded shows that its part is ready, in milliseconds.
 */
const SERVED_FOR = 5_000
/**
 * How long later probes may get no response after one that has succeeded, in milliseconds. The pool
 * may be busy.
 */
const SILENT_FOR = 10_000
/** Limits that no probe reaches. */
const LIMITS = { perMinute: 1_000_000, perDay: 1_000_000_000 }

interface Part {
  readonly name: string
  readonly port: object
  readonly probe: () => unknown
  /** When a probe last succeeded. */
  probedAt: number
}

class NoResponse extends Error {}

/**
 * Returns a function that checks each part of a back end, for the probe of a load balancer. A part
 * is ready if a request of a pet store has called it with success within the last 5 seconds: a busy
 * connection pool makes probes wait, but serves requests. Otherwise, calls the part once. Reuses a
 * result for one second.
 * @param backEnd - the same storage, key store and quota store that `createPetStore` gets
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
  const given = parseOptions(readyCheckOptions, options)
  const { timeout = 2_000, clock = systemClock, onFailure = logFailure } = given
  const { onRecovery = given.onFailure ? () => {} : logRecovery } = given
  const partOf = (name: string, port: object, probe: () => unknown): Part => {
    return { name, port, probe, probedAt: Number.NEGATIVE_INFINITY }
  }
  const parts = [
    partOf('storage', storage, () => storage.list({ limit: 1 })),
    // A new token is in no cache, so the key store itself has to respond.
    partOf('keys', keyStore, () => keyStore.find(newToken())),
    partOf('quota', quota, () =>
      quota.spend({ subject: 'petstore:ready', anonymous: true, limits: LIMITS, ban: false, now: clock.now() }),
    ),
  ]
  const failing = new Set<string>()
  const checks = sharedCalls(checkAll, { max: 1, longestWait: timeout + REUSED_FOR, clock })
  let checkedAt = Number.NEGATIVE_INFINITY
  let result: readonly string[] = []

  async function checkAll(): Promise<readonly string[]> {
    await Promise.all(parts.map(check))
    checkedAt = clock.now()
    result = parts.map(({ name }) => name).filter((name) => failing.has(name))
    return result
  }

  async function check(part: Part): Promise<void> {
    try {
      if (!servesRequests(part)) await probe(part)
      recover(part)
    } catch (error) {
      // Requests and earlier probes may have got a response while this probe waited, for example
      // for a connection of the pool.
      const isBusy = servesRequests(part) || (error instanceof NoResponse && isWithin(SILENT_FOR, part.probedAt))
      if (isBusy) recover(part)
      else fail(part, error)
    }
  }

  /**
   * Calls the part. Also notes a response that comes after the time limit: the part works, but
   * slowly.
   */
  function probe(part: Part): Promise<unknown> {
    const call = async () => {
      await part.probe()
      part.probedAt = clock.now()
    }
    return withTimeout(call(), timeout, () => new NoResponse(`no response within ${timeout} ms`))
  }

  function servesRequests({ port }: Part): boolean {
    return isWithin(SERVED_FOR, lastSuccessOf(port).time)
  }

  function isWithin(length: number, time: number): boolean {
    return Math.abs(clock.now() - time) < length
  }

  function fail({ name }: Part, error: unknown): void {
    if (failing.has(name)) return
    failing.add(name)
    callOrLog('onFailure', onFailure, logFailure, name, error)
  }

  function recover({ name }: Part): void {
    if (failing.delete(name)) callOrLog('onRecovery', onRecovery, logRecovery, name)
  }

  return async () => (isWithin(REUSED_FOR, checkedAt) ? result : checks.run('all'))
}

function logFailure(part: string, error: unknown): void {
  console.error(`petstore-kit: not ready: ${part}: ${readableError(error)}`)
}

function logRecovery(part: string): void {
  console.error(`petstore-kit: ready again: ${part}`)
}
