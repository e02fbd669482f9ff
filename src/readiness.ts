import { isTokenRejection, PetStoreError } from './errors.ts'
import { guardPorts } from './guard-ports.ts'
import { newToken } from './keys/token.ts'
import type { BackEnd, KeyStore, MaybePromise, QuotaStore } from './ports.ts'
import { sharedCalls } from './support/shared-calls.ts'

/** Whether a pet store can serve requests. */
export interface Readiness {
  /** Whether every part of the back end works. */
  readonly ok: boolean
  /** The parts that fail: `storage`, `keys`, `quota`. Empty if `ok` is true. */
  readonly failing: readonly string[]
}

interface ReadinessSettings {
  /** The time limit of the store, in milliseconds. A probe has at most {@link LONGEST_PROBE}. */
  readonly timeout: number
  /** Whether requests are served while the quota store fails. Then it is not probed. */
  readonly isQuotaOptional: boolean
  /** Returns milliseconds since the Unix epoch. */
  readonly now: () => number
  /** Returns milliseconds of a clock that never steps back. */
  readonly monotonic: () => number
  /** Called with an error when a part begins to fail. */
  readonly onFailure: (error: unknown) => void
}

/** How long the probe of one part may take, in milliseconds. */
const LONGEST_PROBE = 2_000
/**
 * How long a result is reused, in milliseconds. Without reuse, frequent probes would burden the
 * back end.
 */
const REUSED_FOR = 1_000

/**
 * Returns a function that makes one call of each part of a back end, and says which of them fail.
 * Concurrent callers share these calls.
 */
export function readinessOf(backEnd: BackEnd, settings: ReadinessSettings): () => Promise<Readiness> {
  const { isQuotaOptional, now, monotonic, onFailure } = settings
  const timeout = Math.min(settings.timeout, LONGEST_PROBE)
  const { storage, keyStore, quota } = guardPorts(backEnd, { timeout, quotaTimeout: timeout })
  const probes: readonly (readonly [part: string, probe: () => MaybePromise<unknown>])[] = [
    ['storage', () => storage.list({ limit: 1 })],
    ['keys', () => probeKeys(keyStore)],
    ...(isQuotaOptional ? [] : [['quota', () => probeQuota(quota, now())] as const]),
  ]
  const sharing = { max: 1, longestWait: timeout + REUSED_FOR, clock: { now: monotonic } }
  const checks = sharedCalls(checkAll, sharing)
  let latest: Readiness = { ok: true, failing: [] }
  let checkedAt = Number.NEGATIVE_INFINITY

  async function checkAll(): Promise<Readiness> {
    const results = await Promise.all(probes.map(async ([part, probe]) => ((await works(part, probe)) ? [] : [part])))
    const failing = results.flat()
    latest = { ok: failing.length === 0, failing }
    checkedAt = monotonic()
    return latest
  }

  async function works(part: string, probe: () => MaybePromise<unknown>): Promise<boolean> {
    try {
      await probe()
      return true
    } catch (cause) {
      const error = new PetStoreError('service_unavailable', `The part "${part}" of the back end is not ready.`, {
        cause,
      })
      if (!latest.failing.includes(part)) onFailure(error)
      return false
    }
  }

  return async () => (monotonic() - checkedAt < REUSED_FOR ? latest : checks.run('all'))
}

/** Looks for a new token. It is in no cache, so the key store itself has to respond. */
async function probeKeys(keyStore: KeyStore): Promise<void> {
  try {
    await keyStore.find(newToken())
  } catch (error) {
    if (!isTokenRejection(error)) throw error
  }
}

/** Counts a request of a subject of its own. It reaches no limit. */
async function probeQuota(quota: QuotaStore, now: number): Promise<void> {
  const limits = { perMinute: 1_000_000, perDay: 1_000_000_000 }
  await quota.spend({ subject: 'petstore:ready', anonymous: true, limits, ban: false, now })
}
