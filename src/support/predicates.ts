/** Returns whether a value is a whole number of at least 1. */
export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 1
}

/** Returns whether a value is an http or https URL without credentials, query and fragment. */
export function isHttpUrl(value: unknown): value is string {
  return typeof value === 'string' && /^https?:\/\/[^?#@/\\]+(?:\/[^?#]*)?$/i.test(value) && URL.canParse(value)
}
