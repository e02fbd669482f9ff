import type { Pet } from '../model.ts'
import { KEY_PERIOD, keyText } from '../pets/idempotency.ts'
import type { Clock, CreatedPet, Idempotency } from '../ports.ts'

/** Creates the list of used idempotency keys. No key is removed within 48 hours. */
export function usedKeys(clock: Clock) {
  /** The use of each idempotency key. The oldest one comes first. */
  const uses = new Map<string, { readonly pet: Pet; readonly fingerprint: string; readonly expiresAt: number }>()

  function removeExpired(now: number): void {
    for (const [name, { expiresAt }] of uses) {
      // Keys from a time when the clock was ahead expire too late. Without the second condition, no
      // key after them would be removed.
      if (expiresAt > now && expiresAt <= now + 2 * KEY_PERIOD) return
      uses.delete(name)
    }
  }

  return {
    /**
     * Returns the animal that this key has added within 48 hours, as it was then. If there is none,
     * adds one by `add`.
     */
    use(idempotency: Idempotency, add: () => Pet): CreatedPet {
      const now = clock.now()
      removeExpired(now)
      const { fingerprint } = idempotency
      const name = keyText(idempotency)
      const known = uses.get(name)
      if (known !== undefined && known.expiresAt > now)
        return { ...known.pet, earlier: known.fingerprint === fingerprint ? 'same' : 'different' }
      // Otherwise, a key that is used again would stay in front of older keys. `removeExpired`
      // stops at the first key that is still valid, so it would not remove these.
      uses.delete(name)
      const pet = add()
      uses.set(name, { pet, fingerprint, expiresAt: now + KEY_PERIOD })
      return pet
    },
  }
}
