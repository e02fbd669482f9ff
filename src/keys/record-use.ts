import type { ApiKey } from '../model.ts'
import type { Clock, KeyStore, ManagedKeyStore } from '../ports.ts'
import { DAY } from '../support/time.ts'

/** How many keys one call of the key store records. */
const AT_ONCE = 1_000

/**
 * Returns a function to call with the key of each request. Once for each key, day and process, it lets the key store record the
 * day. It returns at once: no request waits for the key store, which gets one call at a time.
 * @param onFailure - called with an error, but not again until a call succeeds
 */
export function useRecorder(
  keyStore: KeyStore & Partial<Pick<ManagedKeyStore, 'recordUse'>>,
  clock: Clock,
  onFailure: (error: unknown) => void,
): (key: ApiKey) => void {
  /** The keys that were seen on this day. */
  const seen = new Set<string>()
  const waiting = new Set<string>()
  /** The number of the UTC day since 1970. */
  let today = -1
  let isRecording = false
  let isFailing = false

  async function record(): Promise<void> {
    isRecording = true
    while (waiting.size > 0) {
      const ids = Array.from(waiting).slice(0, AT_ONCE)
      for (const id of ids) waiting.delete(id)
      try {
        await keyStore.recordUse?.(ids, dayOf(today))
        isFailing = false
      } catch (error) {
        if (!isFailing) onFailure(error)
        isFailing = true
        // The next request with one of these keys tries again.
        for (const id of ids) seen.delete(id)
      }
    }
    isRecording = false
  }

  return ({ id }) => {
    if (!keyStore.recordUse || !id) return
    const day = Math.floor(clock.now() / DAY)
    if (day !== today) {
      seen.clear()
      today = day
    }
    if (seen.has(id)) return
    seen.add(id)
    waiting.add(id)
    if (!isRecording) void record()
  }
}

function dayOf(day: number): string {
  return new Date(day * DAY).toISOString().slice(0, 10)
}
