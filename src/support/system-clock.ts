import type { Clock } from '../ports.ts'

/** The clock of the runtime. Reads the global `Date` at each call, because fake timers replace it. */
export const systemClock: Clock = { now: () => Date.now() }
