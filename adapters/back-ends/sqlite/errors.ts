import { unavailable } from '../shared/unavailable.ts'

/** SQLite's result codes that mean its file cannot be used now, by number. */
const UNAVAILABLE: Readonly<Record<number, string>> = {
  5: 'SQLITE_BUSY',
  6: 'SQLITE_LOCKED',
  8: 'SQLITE_READONLY',
  10: 'SQLITE_IOERR',
  13: 'SQLITE_FULL',
  14: 'SQLITE_CANTOPEN',
  15: 'SQLITE_PROTOCOL',
}
const UNAVAILABLE_NAMES = new Set(Object.values(UNAVAILABLE))

/** Returns whether a statement failed because another connection holds the lock. */
export function isBusy(error: unknown): boolean {
  return resultCode(error) === 'SQLITE_BUSY'
}

/** Calls `use`. If the file cannot be used, throws `service_unavailable`; rethrows other errors unchanged. */
export function guarded<T>(use: () => T): T {
  try {
    return use()
  } catch (error) {
    throw isUnavailableCode(resultCode(error)) ? unavailable(error) : error
  }
}

/** Returns whether a result code without a suffix means that the database cannot be used now. */
export function isUnavailableCode(name: string | undefined): boolean {
  return name !== undefined && UNAVAILABLE_NAMES.has(name)
}

/**
 * Returns the name of the result code of an error, without the suffix of an extended code, such as SQLITE_IOERR_WRITE.
 * `node:sqlite` gives a number in `errcode`, other drivers give a name. `instanceof` is not used: under Jest, errors belong to
 * another realm.
 */
function resultCode(error: unknown): string | undefined {
  const { code, errcode } = Object(error) as { code?: unknown; errcode?: unknown }
  if (typeof errcode === 'number') return UNAVAILABLE[errcode & 0xff]
  return String(code).split('_', 2).join('_')
}
