import { KEY_PERIOD, MAX_KEYS } from '../pets/used-keys.ts'

/**
 * The used keys of one scope, by the order of their uses. Lists of texts and numbers cost the garbage collector less than one object
 * for each key.
 */
class Scope {
  /** The number of the latest use of each key. */
  readonly #uses = new Map<string, number>()
  readonly #keys: string[] = []
  readonly #positions: number[] = []
  readonly #ends: number[] = []
  /** The index of the oldest use. */
  #oldest = 0
  /** The number of the use at index 0. */
  #firstNumber = 0

  /** Returns the position of the animal that a key has added, or `undefined` if the key was not used within 24 hours. */
  find(key: string, now: number): number | undefined {
    const index = (this.#uses.get(key) ?? Number.NaN) - this.#firstNumber
    return (this.#ends[index] ?? now) > now ? this.#positions[index] : undefined
  }

  add(key: string, position: number, now: number): void {
    this.#uses.set(key, this.#firstNumber + this.#keys.length)
    this.#keys.push(key)
    this.#positions.push(position)
    this.#ends.push(now + KEY_PERIOD)
    while (this.#uses.size > MAX_KEYS) this.#removeOldest()
  }

  /** Removes the oldest use if it has expired. Returns whether it did. */
  removeExpired(now: number): boolean {
    const isExpired = (this.#ends[this.#oldest] ?? Number.POSITIVE_INFINITY) <= now
    if (isExpired) this.#removeOldest()
    return isExpired
  }

  get isEmpty(): boolean {
    return this.#uses.size === 0
  }

  #removeOldest(): void {
    const key = this.#keys[this.#oldest] as string
    // If the key was used again after its end, the map has the later use.
    if (this.#uses.get(key) === this.#firstNumber + this.#oldest) this.#uses.delete(key)
    this.#oldest++
    // The lists give their free places at the front back when half of all places are free.
    if (2 * this.#oldest < this.#keys.length) return
    for (const list of [this.#keys, this.#positions, this.#ends]) list.splice(0, this.#oldest)
    this.#firstNumber += this.#oldest
    this.#oldest = 0
  }
}

/** Creates the list of used keys for a storage in memory. The time of a call does not depend on the number of keys. */
export function usedKeys() {
  const scopes = new Map<string, Scope>()
  const removal = removeExpired()

  /** Removes one expired key each time it gets the time, or goes on to the next scope. Runs only while there is a scope. */
  function* removeExpired(): Generator<void, never, number> {
    for (;;)
      for (const [name, scope] of scopes) {
        while (scope.removeExpired(yield));
        if (scope.isEmpty) scopes.delete(name)
      }
  }

  function scopeOf(name: string): Scope {
    const known = scopes.get(name)
    if (known !== undefined) return known
    const scope = new Scope()
    scopes.set(name, scope)
    return scope
  }

  return {
    /**
     * Returns the position of the animal that a key has added within 24 hours. If there is none, notes the use of the key by the
     * animal at `position`, and returns `undefined`. A full scope loses its oldest key.
     */
    use(name: string, key: string, position: number, now: number): number | undefined {
      const scope = scopeOf(name)
      const earlier = scope.find(key, now)
      if (earlier !== undefined) return earlier
      scope.add(key, position, now)
      // With one step for each new key, the removal could not catch up.
      removal.next(now)
      removal.next(now)
      return undefined
    },
  }
}
