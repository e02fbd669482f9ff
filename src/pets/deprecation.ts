/** Whether getPet stops working on 5 December 2030 (`enforce`), or only announces its removal (`announce`). */
export type SunsetPolicy = 'enforce' | 'announce'

/** The time since which getPet is deprecated, 5 December 2025, in Unix seconds (RFC 9745, section 2.1). */
export const DEPRECATION = '@1764892800'
/** The time when getPet is removed, 5 December 2030, in milliseconds since the Unix epoch. */
export const SUNSET_AT = Date.UTC(2030, 11, 5)
export const SUNSET = new Date(SUNSET_AT).toUTCString()

/** Returns whether getPet is removed at `now`, in milliseconds since the Unix epoch. */
export function isRemoved(now: number, policy: SunsetPolicy): boolean {
  return policy === 'enforce' && now >= SUNSET_AT
}

/** Adds the headers that every response of getPet has: RFC 9745, RFC 8594, and the link relation of RFC 5829. */
export function addDeprecationHeaders(headers: string[], successor: string): void {
  headers.push('Deprecation', DEPRECATION, 'Sunset', SUNSET, 'Link', `<${successor}>; rel="successor-version"`)
}
