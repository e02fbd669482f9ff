/** SQLite's result codes for a file that cannot be used now. */
export const UNAVAILABLE_CODES: Readonly<Record<number, string>> = {
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
