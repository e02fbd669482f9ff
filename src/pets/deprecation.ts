/** What becomes of the deprecated operation on the day of its removal. */
export type SunsetPolicy = 'enforce' | 'announce'

/** 5 December 2025: from then on getPet has been deprecated. In seconds since the Unix epoch (RFC 9745, section 2.1). */
const DEPRECATION = '@1764892800'
/** 5 December 2030: from then on getPet is gone. */
const SUNSET_AT = Date.UTC(2030, 11, 5)
const SUNSET = new Date(SUNSET_AT).toUTCString()

/** Whether getPet is removed at `now`, in milliseconds since the Unix epoch. */
export function isRemoved(now: number, policy: SunsetPolicy): boolean {
  return policy === 'enforce' && now >= SUNSET_AT
}

/** Adds what every answer of getPet announces: RFC 9745, RFC 8594 and the successor of RFC 5829. */
export function addDeprecationHeaders(headers: string[], successor: string): void {
  headers.push('Deprecation', DEPRECATION, 'Sunset', SUNSET, 'Link', `<${successor}>; rel="successor-version"`)
}
