import type { Clock } from '../../../src/index.ts'

/** The time in a statement, in milliseconds since the Unix epoch. */
export interface SqlTime {
  /** Returns the SQL expression for the time: the parameter `$position` for a test's clock; otherwise, PostgreSQL's clock. */
  at(position: number): string
  /** Returns the value of the parameter for a test's clock; otherwise, an empty list. */
  values(): number[]
}

export function sqlTime(clock: Clock | undefined): SqlTime {
  if (clock !== undefined) return { at: (position) => `$${position}::float8`, values: () => [clock.now()] }
  return { at: () => `floor(date_part('epoch', clock_timestamp()) * 1000)`, values: () => [] }
}
