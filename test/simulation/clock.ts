// Takes the place of the runtime's timers and random numbers in the simulated processes: load.ts injects this file.

/** The callbacks of timers that have not fired. */
export const timers = new Set<() => void>()
let numbers = 0

export function setTimeout(callback: () => void): () => void {
  timers.add(callback)
  return callback
}

export function clearTimeout(callback: () => void): void {
  timers.delete(callback)
}

/** Takes the place of `Math.random`. */
export function random(): number {
  return ++numbers / 1_000
}

export function resetClock(): void {
  timers.clear()
  numbers = 0
}
