import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { type SqliteDatabase, sqlite } from '../back-ends/sqlite/index.ts'
import { loadDriver, using } from './driver.ts'
import type { OpenedBackEnd } from './opened-back-end.ts'

type Connection = SqliteDatabase & { close(): unknown }
type Driver = new (path: string) => Connection

/** In the order of preference: what the runtime brings, then what is installed. */
const DRIVERS = [
  ['bun:sqlite', 'Database'],
  ['node:sqlite', 'DatabaseSync'],
  ['better-sqlite3', 'default'],
  ['libsql', 'default'],
] as const

/** Opens a back end in a file, which is created where it is not there. */
export async function openSqliteFile(path: string): Promise<OpenedBackEnd> {
  await using(path, () => requirePlace(path))
  const Driver = await findDriver()
  const database = await using(path, () => new Driver(path))
  const close = async () => void database.close()
  try {
    const backEnd = await using(path, () => sqlite(database))
    return { ...backEnd, place: path, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Refuses a file that is not there, for commands that have nothing to look for in a new one. */
export function requireFile(path: string): void {
  if (!existsSync(path)) throw new Error(`there is no file ${path}`)
}

/** Refuses a file that this user cannot write, for a server that would answer every request with a fault. */
export function requireWritable(path: string): void {
  if (existsSync(path) && !isAllowed(path, constants.R_OK | constants.W_OK))
    throw new Error(`cannot use ${path}: this user may not read and write it`)
}

/** Drivers do not say what is wrong with a path, or each in words of its own. */
function requirePlace(path: string): void {
  const isFolder = (place: string) => statSync(place, { throwIfNoEntry: false })?.isDirectory() === true
  const folder = dirname(path)
  if (!isFolder(folder)) throw new Error(`there is no folder ${folder}`)
  if (isFolder(path)) throw new Error('it is a folder, not a file')
  // A log that is there already may be written without it.
  if (!existsSync(`${path}-wal`) && !isAllowed(folder, constants.W_OK))
    throw new Error(`this user may not write in the folder ${folder}, as SQLite has to`)
}

function isAllowed(place: string, mode: number): boolean {
  try {
    accessSync(place, mode)
    return true
  } catch {
    return false
  }
}

async function findDriver(): Promise<Driver> {
  for (const [name, member] of DRIVERS) {
    const module = (await loadDriver(name)) as Record<string, Driver> | Driver | undefined
    if (typeof module === 'function') return module
    if (module?.[member] !== undefined) return module[member]
  }
  throw new Error('--data needs a driver of SQLite: run Node 22.13 or later, or npm install better-sqlite3')
}
