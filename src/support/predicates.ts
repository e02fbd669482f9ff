/** Returns whether a value is a whole number of at least 1. */
export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 1
}
