import type { Clock } from '../ports.ts'

/** The time of the runtime. It is looked up at each call: the fake timers of a test put another `Date` in its place. */
export const systemClock: Clock = { now: () => Date.now() }
