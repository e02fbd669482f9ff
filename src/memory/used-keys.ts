import { KEY_PERIOD, MAX_KEYS } from '../pets/used-keys.ts'
import type { Idempotency } from '../ports.ts'

/** How many steps each new key goes on with the removal of expired keys. With one step, the removal could not catch up. */
const STEPS = 2

/** A key that was used, and the animal that its request has added. */
interface UsedKey {
  readonly key: string
  readonly fingerprint: string
  readonly petId: bigint
  readonly endsAt: number
  /** The next newer key of the same scope. */
  newer: UsedKey | undefined
}

/** The used keys of one scope. If there are none, `oldest` is `undefined`. */
interface Scope {
  readonly byKey: Map<string, UsedKey>
  oldest: UsedKey | undefined
  newest: UsedKey | undefined
}

/** The used keys of all scopes. The time of a call does not depend on the number of keys. */
export interface UsedKeys {
  /** Returns the use of a key, or `undefined` if there was none within 24 hours. */
  find(idempotency: Idempotency): UsedKey | undefined
  /** Adds a key, and removes a few expired keys. A full scope loses its oldest key. */
  add(idempotency: Idempotency, petId: bigint): void
}

/** Creates the list of used keys for a storage in memory. */
export function usedKeys(): UsedKeys {
  const scopes = new Map<string, Scope>()
  const removal = removeExpired()

  /** Removes one expired key each time it gets the time, or goes on to the next scope. Runs only while there is a scope. */
  function* removeExpired(): Generator<void, never, number> {
    for (;;)
      for (const [name, scope] of scopes) {
        while (isExpired(scope.oldest, yield)) removeOldest(scope)
        if (scope.oldest === undefined) scopes.delete(name)
      }
  }

  function scopeOf(name: string): Scope {
    const known = scopes.get(name)
    if (known !== undefined) return known
    const scope: Scope = { byKey: new Map(), oldest: undefined, newest: undefined }
    scopes.set(name, scope)
    return scope
  }

  return {
    find({ scope, key, now }) {
      const used = scopes.get(scope)?.byKey.get(key)
      return isExpired(used, now) ? undefined : used
    },
    add({ scope: name, key, fingerprint, now }, petId) {
      const used: UsedKey = { key, fingerprint, petId, endsAt: now + KEY_PERIOD, newer: undefined }
      const scope = scopeOf(name)
      scope.byKey.set(key, used)
      if (scope.oldest === undefined || scope.newest === undefined) scope.oldest = used
      else scope.newest.newer = used
      scope.newest = used
      while (scope.byKey.size > MAX_KEYS) removeOldest(scope)
      for (let step = 0; step < STEPS; step++) removal.next(now)
    },
  }
}

function isExpired(used: UsedKey | undefined, now: number): boolean {
  return used !== undefined && used.endsAt <= now
}

function removeOldest(scope: Scope): void {
  const { oldest } = scope
  if (oldest === undefined) return
  scope.oldest = oldest.newer
  // If the key was used again after its end, the map has the newer use.
  if (scope.byKey.get(oldest.key) === oldest) scope.byKey.delete(oldest.key)
}
