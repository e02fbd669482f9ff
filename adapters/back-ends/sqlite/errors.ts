import { PetStoreError } from '../../../src/index.ts'

/** SQLite's result codes of an unusable file, by name and number. */
const UNAVAILABLE = new Map([
  ['SQLITE_BUSY', 5],
  ['SQLITE_LOCKED', 6],
  ['SQLITE_READONLY', 8],
  ['SQLITE_IOERR', 10],
  ['SQLITE_FULL', 13],
  ['SQLITE_CANTOPEN', 14],
  ['SQLITE_PROTOCOL', 15],
])
const UNAVAILABLE_NUMBERS = new Set(UNAVAILABLE.values())

/** Returns whether another connection holds the lock that a statement needs. */
export function isBusy(error: unknown): boolean {
  const { name, number } = resultCode(error)
  return name?.startsWith('SQLITE_BUSY') === true || number === UNAVAILABLE.get('SQLITE_BUSY')
}

/** Uses the database. If its file cannot be used, throws `service_unavailable`; other errors stay. */
export function guarded<T>(use: () => T): T {
  try {
    return use()
  } catch (error) {
    throw isUnavailable(error) ? new PetStoreError('service_unavailable', undefined, { cause: error }) : error
  }
}

function isUnavailable(error: unknown): boolean {
  const { name, number } = resultCode(error)
  if (number !== undefined && UNAVAILABLE_NUMBERS.has(number)) return true
  return name !== undefined && isUnavailableCode(name)
}

/** Returns whether a result code says that the database cannot be used now. Its extended form has a suffix: SQLITE_IOERR_WRITE. */
export function isUnavailableCode(name: string): boolean {
  return UNAVAILABLE.has(name.split('_', 2).join('_'))
}

/**
 * Returns the result code: better-sqlite3 and libsql have a name, `bun:sqlite` a name and a number, `node:sqlite` a number in
 * `errcode`. Not by `instanceof`: Jest has another realm.
 */
function resultCode(error: unknown): { name?: string; number?: number } {
  const { code, errcode } = Object(error) as { code?: unknown; errcode?: unknown }
  if (typeof errcode === 'number') return { number: errcode & 0xff }
  return typeof code === 'string' && code.startsWith('SQLITE_') ? { name: code } : {}
}
