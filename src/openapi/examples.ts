import { type ErrorCode, errorTable } from '../errors.ts'
import { rejectOtherMediaTypes } from '../http/media-type.ts'
import { tooLarge } from '../http/read-body.ts'
import type { ApiResponse } from '../http/response.ts'
import type { ResolvedOptions } from '../options.ts'
import { parseIdempotencyKey } from '../pets/idempotency.ts'
import { readJson } from '../pets/json.ts'
import { encodeCursor, parsePageQuery } from '../pets/pagination.ts'
import { parseNewPet } from '../pets/schemas.ts'
import { tooManyRequests } from '../quota/rate-limit.ts'

/** An example of the animal that createPet adds. */
export const ADDED = { id: 7, name: 'Rex', categoryId: 1, status: 'available' }

/** An example of a page that is not the last one, and the query for it. */
export const PAGE_QUERY = 'limit=2'
export const PAGE = {
  nextCursor: encodeCursor(2n),
  pets: [
    { id: 1, name: 'Rex', categoryId: 1, status: 'available' },
    { id: 2, name: 'Ada', categoryId: 2, status: 'sold' },
  ],
}

/** The seconds in the examples of 429 responses. They are also the example of `Retry-After`. */
export const RETRY_AFTER = 30

/** Returns an example of each error response, by code. The messages are those that the service itself writes. */
export function errorExamples(codes: readonly ErrorCode[], { bodyLimit, newPet, maxNameLength }: ResolvedOptions) {
  const messages: Partial<Record<ErrorCode, string | undefined>> = {
    invalid_parameter: thrownMessage(() => parsePageQuery('limit=500')),
    invalid_body: thrownMessage(() => parseNewPet(newPet, { name: 'Rex', categoryId: '1' }, maxNameLength)),
    malformed_json: thrownMessage(() => readJson(new TextEncoder().encode('{"name": "Rex"'))),
    invalid_idempotency_key: thrownMessage(() => parseIdempotencyKey('order 1')),
    payload_too_large: tooLarge(bodyLimit).message,
    unsupported_media_type: messageIn(rejectOtherMediaTypes({ header: () => 'text/plain' })),
    rate_limit_exceeded: messageIn(tooManyRequests({ code: 'rate_limit_exceeded', retryAfter: RETRY_AFTER })),
    api_key_banned: messageIn(tooManyRequests({ code: 'api_key_banned', retryAfter: RETRY_AFTER })),
  }
  return Object.fromEntries(
    codes.map((code) => {
      const { message, status } = errorTable[code]
      return [code, { summary: code, value: { code, message: messages[code] ?? message, status } }]
    }),
  )
}

function thrownMessage(fail: () => unknown): string | undefined {
  try {
    fail()
  } catch (error) {
    return (error as Error).message
  }
  return undefined
}

function messageIn(response: ApiResponse | undefined): string | undefined {
  return response && (JSON.parse(response.body) as { message: string }).message
}
