import { isUnavailableCode } from '../sqlite/errors.ts'

/**
 * Matches messages of a database service that cannot be reached or cannot work now. D1 lists its messages at
 * https://developers.cloudflare.com/d1/observability/debug-d1/. If the connection breaks, `D1_ERROR` may be missing. The last two
 * alternatives are codes of the libSQL client.
 */
const UNAVAILABLE = /^D1_ERROR: |\bNetwork connection lost\b|^SERVER_ERROR: |^HRANA_\w+_ERROR: /

/** Returns whether the database is unavailable. An error of SQLite itself contains a result code, such as SQLITE_BUSY. */
export function isUnavailable(error: unknown): boolean {
  const { message } = Object(error) as { message?: unknown }
  if (typeof message !== 'string') return false
  const [code] = /\bSQLITE_[A-Z]+/.exec(message) ?? []
  return code === undefined ? UNAVAILABLE.test(message) : isUnavailableCode(code)
}
