import type { Clock } from '../../../src/index.ts'

/** How statements get the time, in milliseconds since the Unix epoch. */
export interface SqlTime {
  /** Returns the SQL expression for the time. With a test's clock, the expression is the parameter `$position`. */
  at(position: number): string
  /** Returns the value of that parameter; an empty list without a test's clock. */
  values(): number[]
}

/** Uses the test's clock, or else PostgreSQL's clock at the moment when the expression is evaluated. */
export function sqlTime(clock: Clock | undefined): SqlTime {
  if (clock !== undefined) return { at: (position) => `$${position}::float8`, values: () => [clock.now()] }
  return { at: () => `floor(date_part('epoch', clock_timestamp()) * 1000)`, values: () => [] }
}
