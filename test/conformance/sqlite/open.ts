import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type SqliteDatabase, type SqliteOptions, sqlite } from '../../../adapters/back-ends/sqlite/index.ts'

/** An SQLite connection of any driver. */
export type Connection = SqliteDatabase & { close(): unknown }

/** Opens an SQLite file with a driver. */
export type OpenFile = (path: string) => Connection

export function temporaryFolder(): { folder: string; remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-kit-'))
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** Opens a SQLite back end on a new file. */
export function openBackEnd(openFile: OpenFile, options?: SqliteOptions) {
  const { folder, remove } = temporaryFolder()
  const path = join(folder, 'pets.db')
  const database = openFile(path)
  const close = async () => {
    database.close()
    remove()
  }
  return { ...sqlite(database, { onError: () => {}, ...options }), database, path, close }
}
