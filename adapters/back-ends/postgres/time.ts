import type { Clock } from '../../../src/index.ts'

/** The time, in milliseconds since the Unix epoch, as part of a statement. */
export interface SqlTime {
  /** The expression, where its value, if there is one, stands at `$position`. */
  at(position: number): string
  /** The value to send, if there is one. */
  values(): number[]
}

/** The engine's own clock, read when the expression is evaluated, or a clock of a test. */
export function sqlTime(clock: Clock | undefined): SqlTime {
  if (clock !== undefined) return { at: (position) => `$${position}::float8`, values: () => [clock.now()] }
  return { at: () => `floor(date_part('epoch', clock_timestamp()) * 1000)`, values: () => [] }
}
