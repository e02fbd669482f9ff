import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { innermostMessage } from '../../../src/support/describe-value.ts'
import { setBusyTimeout } from '../../back-ends/sqlite/connection.ts'
import { type SqliteDatabase, sqlite } from '../../back-ends/sqlite/index.ts'
import { sqliteTables } from '../../back-ends/sqlite/tables.ts'
import { printError } from '../terminal/output.ts'
import { closeOnFailure, loadDriver, type OpenedBackEnd, type OpenedTables, using } from './driver.ts'

type Connection = SqliteDatabase & { close(): unknown }
type Driver = new (path: string) => Connection

/** In the order in which they are tried: first the drivers that a runtime contains. */
const DRIVERS = ['bun:sqlite', 'node:sqlite', 'better-sqlite3', 'libsql']
const ADVICE =
  '--data needs a SQLite driver: run Node 22.13 or later, which contains one, or npm install better-sqlite3'

export async function openSqliteFile(path: string): Promise<OpenedBackEnd> {
  const database = await connectTo(path)
  const close = async () => {
    database.close()
  }
  const onError = (error: unknown) => printError(innermostMessage(error))
  const backEnd = await closeOnFailure(close, () => using(path, () => sqlite(database, { onError })))
  return { ...backEnd, name: path, close }
}

/** Gives a copy access to the tables. Creates the file if it is missing. */
export async function openSqliteTables(path: string): Promise<OpenedTables> {
  const database = await connectTo(path)
  const close = async () => {
    database.close()
  }
  return closeOnFailure(close, async () => {
    await using(path, () => sqlite(database, { onError: (error) => printError(innermostMessage(error)) }))
    setBusyTimeout(database, LOCK_WAIT)
    return { ...sqliteTables(database), name: path, close }
  })
}

/** How long a copy waits for a server that writes to the file, in milliseconds. */
const LOCK_WAIT = 5_000

/** Creates the file if it is missing. */
export async function connectTo(path: string): Promise<Connection> {
  await using(path, () => requireOpenable(path))
  const module = await loadDriver<Driver & Readonly<Record<string, Driver | undefined>>>(DRIVERS, ADVICE)
  const Driver = module.Database ?? module.DatabaseSync ?? module.default ?? module
  return using(path, () => new Driver(path))
}

/** Throws if there is no file, for commands that must not create one. */
export function requireFile(path: string): void {
  if (!existsSync(path)) throw new Error(`there is no file ${path}`)
}

/** Throws without permission to read and write the file: every request would fail. */
export function requireWritable(path: string): void {
  if (existsSync(path) && !isAllowed(path, constants.R_OK | constants.W_OK))
    throw new Error(`cannot use ${path}: you have no permission to read and write it`)
}

/** For a wrong path, drivers only report "unable to open database file". */
function requireOpenable(path: string): void {
  const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
  const folder = dirname(path)
  if (!isFolder(folder)) throw new Error(`there is no folder ${folder}`)
  if (isFolder(path)) throw new Error('it is a folder, not a file')
  // SQLite creates its write-ahead log in the folder, unless the log already exists.
  if (!existsSync(`${path}-wal`) && !isAllowed(folder, constants.W_OK))
    throw new Error(`you have no permission to write in the folder ${folder}, where SQLite keeps its log`)
}

function isAllowed(path: string, mode: number): boolean {
  try {
    accessSync(path, mode)
    return true
  } catch {
    return false
  }
}
