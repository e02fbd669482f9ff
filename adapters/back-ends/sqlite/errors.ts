import { unavailable } from '../shared/errors.ts'

/** SQLite's result codes for a file that cannot be used now. */
const UNAVAILABLE_CODES: Readonly<Record<number, string>> = {
  5: 'SQLITE_BUSY',
  6: 'SQLITE_LOCKED',
  8: 'SQLITE_READONLY',
  10: 'SQLITE_IOERR',
  13: 'SQLITE_FULL',
  14: 'SQLITE_CANTOPEN',
  15: 'SQLITE_PROTOCOL',
}

export function isUnavailableCode(name: string | undefined): boolean {
  return name !== undefined && Object.values(UNAVAILABLE_CODES).includes(name)
}

/** Returns `service_unavailable` for the error of a file that cannot be used now. */
export function translated(error: unknown): unknown {
  return isUnavailableCode(resultCode(error)) ? unavailable(error) : error
}

/** Throws `service_unavailable` if the file cannot be used now. */
export function guarded<T>(use: () => T): T {
  try {
    return use()
  } catch (error) {
    throw translated(error)
  }
}

/** Returns whether another connection has locked the file. */
export function isLocked(error: unknown): boolean {
  return resultCode(error) === 'SQLITE_BUSY'
}

/**
 * Returns the name of a result code. Extended codes lose their suffix: SQLITE_IOERR_WRITE becomes
 * SQLITE_IOERR. `node:sqlite` has a number in `errcode`, other drivers a name in `code`. Does not
 * use `instanceof`: under Jest, it is false for these errors.
 */
export function resultCode(error: unknown): string | undefined {
  const { code, errcode } = Object(error) as { code?: unknown; errcode?: unknown }
  if (typeof errcode === 'number') return UNAVAILABLE_CODES[errcode & 0xff]
  return String(code).split('_', 2).join('_')
}
