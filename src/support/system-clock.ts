import type { Clock } from '../ports.ts'

/** The time of the runtime. `Date` is looked up at each call, because fake timers of a test replace it. */
export const systemClock: Clock = { now: () => Date.now() }
