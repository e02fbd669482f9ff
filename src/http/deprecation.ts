import { type Deprecation, operationNames, operations } from '../operations.ts'
import { errorResponse, type OwnResponse } from './response.ts'

/**
 * Whether a deprecated operation stops working on the day of its removal (`enforce`), or only
 * announces it (`announce`).
 */
export type SunsetPolicy = 'enforce' | 'announce'

/** The deprecations of all operations. */
export const deprecations = operationNames.flatMap((name) => operations[name].deprecation ?? [])

/** Returns whether an operation has been removed at a time. Without `deprecation`, it never is. */
export function isRemoved(deprecation: Deprecation | undefined, now: number, policy: SunsetPolicy): boolean {
  return policy === 'enforce' && deprecation !== undefined && now >= deprecation.removedAt
}

export function removedResponse(deprecation: Deprecation): OwnResponse {
  return errorResponse('operation_removed', [], removalMessage(deprecation))
}

export function removalMessage({ removedAt, successor }: Deprecation): string {
  return `This operation was removed on ${dateText(removedAt)}: use GET ${successor} instead.`
}

/** Returns a day in words, such as `5 December 2030`. */
export function dateText(time: number): string {
  // No formatter of the module: `new Intl.DateTimeFormat` would take 10 ms of every import.
  return new Date(time).toLocaleDateString('en-GB', { dateStyle: 'long', timeZone: 'UTC' })
}

/** Returns the value of `Deprecation` (RFC 9745, section 2.1). */
export function deprecationHeader({ deprecatedAt }: Deprecation): string {
  return `@${deprecatedAt / 1_000}`
}

/** Returns the value of `Sunset` (RFC 8594). */
export function sunsetHeader({ removedAt }: Deprecation): string {
  return new Date(removedAt).toUTCString()
}

/** Returns the value of `Link` for the operation that replaces a deprecated one (RFC 5829). */
export function successorLink({ successor }: Deprecation, linkBase: string): string {
  return `<${linkBase}${successor}>; rel="successor-version"`
}

/** Adds the headers that every response of a deprecated operation has. */
export function addDeprecationHeaders(headers: string[], deprecation: Deprecation, linkBase: string): void {
  headers.push('Deprecation', deprecationHeader(deprecation), 'Sunset', sunsetHeader(deprecation))
  headers.push('Link', successorLink(deprecation, linkBase))
}
