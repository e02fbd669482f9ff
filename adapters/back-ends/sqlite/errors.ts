import { PetStoreError } from '../../../src/index.ts'

/** SQLite's result codes that mean its file cannot be used now, by name and number. */
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

/** Returns whether a statement failed because another connection holds the lock. */
export function isBusy(error: unknown): boolean {
  const { name, number } = resultCode(error)
  return name?.startsWith('SQLITE_BUSY') === true || number === UNAVAILABLE.get('SQLITE_BUSY')
}

/** Calls `use`. If the file cannot be used, throws `service_unavailable`; rethrows other errors unchanged. */
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

/** Returns whether a result code means that the database cannot be used now. Extended codes have a suffix: SQLITE_IOERR_WRITE. */
export function isUnavailableCode(name: string): boolean {
  return UNAVAILABLE.has(name.split('_', 2).join('_'))
}

/**
 * Returns the result code of an error. better-sqlite3 and libsql give a name, `bun:sqlite` a name and a number, `node:sqlite` a
 * number in `errcode`. `instanceof` is not used: under Jest, errors belong to another realm.
 */
function resultCode(error: unknown): { name?: string; number?: number } {
  const { code, errcode } = Object(error) as { code?: unknown; errcode?: unknown }
  if (typeof errcode === 'number') return { number: errcode & 0xff }
  return typeof code === 'string' && code.startsWith('SQLITE_') ? { name: code } : {}
}
