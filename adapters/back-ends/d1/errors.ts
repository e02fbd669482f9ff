import { isUnavailableCode } from '../sqlite/errors.ts'

/**
 * Messages of a service that cannot be reached or cannot work now. D1 lists its own at
 * https://developers.cloudflare.com/d1/observability/debug-d1/; those without a result code of SQLite come from the service around
 * it. A connection that breaks may leave out the prefix. The others are codes of the client of libSQL.
 */
const UNAVAILABLE = /^D1_ERROR: |\bNetwork connection lost\b|^SERVER_ERROR: |^HRANA_\w+_ERROR: /

/** Returns whether the database cannot be reached or cannot work now. An error of SQL names a result code of SQLite. */
export function isUnavailable(error: unknown): boolean {
  const { message } = Object(error) as { message?: unknown }
  if (typeof message !== 'string') return false
  const [code] = /\bSQLITE_[A-Z]+/.exec(message) ?? []
  return code === undefined ? UNAVAILABLE.test(message) : isUnavailableCode(code)
}
