/** How the values of a column are stored: a `hash` is a SHA-256, and a `pet` is an animal as JSON. */
type ColumnType = 'integer' | 'text' | 'hash' | 'pet'

export type Columns = Readonly<Record<string, ColumnType>>

/** The tables that a copy of a store consists of, with their columns. The first column is the key. */
export const tables = {
  pets: { id: 'integer', name: 'text', category_id: 'integer', status: 'text' },
  used_keys: { key_sha256: 'hash', fingerprint_sha256: 'hash', pet: 'pet', used_at: 'integer' },
  keys: {
    id: 'text',
    token_sha256: 'text',
    previous_token_sha256: 'text',
    previous_token_expires_at: 'integer',
    plan: 'text',
    account: 'text',
    limit_per_minute: 'integer',
    limit_per_day: 'integer',
    label: 'text',
    access: 'text',
    created_at: 'integer',
    expires_at: 'integer',
    suspended_at: 'integer',
    revoked_at: 'integer',
    last_used_on: 'text',
  },
  quota: {
    subject: 'text',
    bucket: 'integer',
    used_in_minute: 'integer',
    minute_ends_at: 'integer',
    used_in_day: 'integer',
    day_ends_at: 'integer',
    refused_in_minute: 'integer',
    banned_until: 'integer',
    counted_at: 'integer',
  },
} as const satisfies Record<string, Columns>

export type TableName = keyof typeof tables

export const tableNames = Object.keys(tables) as TableName[]

/**
 * A row in the form that all engines share: the values in the order of the columns. Integers and hashes
 * are text, and an animal is a list of its four values as text.
 */
export type Row = readonly [key: string, ...values: unknown[]]

/** Reads and writes whole rows, for a copy from one engine to another. */
export interface TableAccess {
  /** Returns the first rows whose key is greater, in ascending order: texts by their bytes in UTF-8. */
  read(table: TableName, after: string, limit: number): Promise<readonly Row[]>
  /** Adds rows, and replaces those that have the same key. */
  write(table: TableName, rows: readonly Row[]): Promise<void>
  remove(table: TableName, keys: readonly string[]): Promise<void>
  /** Returns the greatest id that an animal ever had: none may be given again. */
  lastPetId(): Promise<string>
  /** Raises that id, if it is smaller. */
  raiseLastPetId(id: string): Promise<void>
}

/** Returns the names of the columns with their types. The first one is the key. */
export function columnsOf(table: TableName): readonly [name: string, type: ColumnType][] {
  return Object.entries(tables[table])
}

/** Returns the assignments that replace all columns but the key, after `ON CONFLICT … DO UPDATE SET`. */
export function replaceAll(table: TableName): string {
  return columnsOf(table)
    .slice(1)
    .map(([name]) => `${name} = excluded.${name}`)
    .join(', ')
}
