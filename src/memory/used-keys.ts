import { KEY_PERIOD, keyText } from '../pets/used-keys.ts'
import type { Clock } from '../ports.ts'

/** Creates the list of used idempotency keys for a storage in memory. No key is forgotten within 48 hours. */
export function usedKeys(clock: Clock) {
  /** The uses of keys, the earliest first, so that the ended ones are in front. */
  const uses = new Map<string, { readonly position: number; readonly endsAt: number }>()

  function removeEnded(now: number): void {
    for (const [name, { endsAt }] of uses) {
      // If the clock was ahead for a while, the ends of its keys are too late. These keys would keep all later ones.
      if (endsAt > now && endsAt <= now + 2 * KEY_PERIOD) return
      uses.delete(name)
    }
  }

  return {
    /**
     * Returns the position of the animal that a key has added within 48 hours. If there is none, notes the use of the key by the
     * animal at `position`, and returns `undefined`.
     */
    use(scope: string, key: string, position: number): number | undefined {
      const now = clock.now()
      removeEnded(now)
      const name = keyText({ scope, key })
      const known = uses.get(name)
      if (known !== undefined && known.endsAt > now) return known.position
      // A key that is set again would keep its old place in the order.
      uses.delete(name)
      uses.set(name, { position, endsAt: now + KEY_PERIOD })
      return undefined
    },
  }
}
