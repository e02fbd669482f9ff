import type { Clock } from '../../../src/index.ts'

/** The time in a statement, in milliseconds since the Unix epoch. */
export interface SqlTime {
  /** Returns the expression; its value, if there is one, is `$position`. */
  at(position: number): string
  /** Returns the value to send, if there is one. */
  values(): number[]
}

/** Uses the clock of a test, or the engine's clock when the expression is evaluated. */
export function sqlTime(clock: Clock | undefined): SqlTime {
  if (clock !== undefined) return { at: (position) => `$${position}::float8`, values: () => [clock.now()] }
  return { at: () => `floor(date_part('epoch', clock_timestamp()) * 1000)`, values: () => [] }
}
