import { createRequire } from 'node:module'
import { join } from 'node:path'
import { isPetStoreError } from '../../../src/errors.ts'
import type { ManagedBackEnd } from '../../../src/index.ts'
import { innermostMessage } from '../../../src/support/describe-value.ts'
import type { TableAccess } from '../../back-ends/shared/tables.ts'
import { OutputError } from '../terminal/output.ts'

export interface OpenedBackEnd extends ManagedBackEnd {
  /** The name of the file or database, for messages. It contains no password. */
  readonly name: string
  close(): Promise<void>
}

/** The tables of a file or database, for a copy. */
export interface OpenedTables extends TableAccess {
  /** The name of the file or database, for messages. It contains no password. */
  readonly name: string
  close(): Promise<void>
}

const NOT_INSTALLED = /^(?:(?:ERR_)?MODULE_NOT_FOUND|ERR_UNKNOWN_BUILTIN_MODULE|ERR_UNSUPPORTED_ESM_URL_SCHEME)$/

/**
 * Returns the first driver installed beside this package or in the current folder. If none is,
 * throws `Error(advice)`.
 */
export async function loadDriver<Driver>(names: readonly string[], advice: string): Promise<Driver> {
  const require = createRequire(join(process.cwd(), 'petstore'))
  for (const name of names) {
    const beside = await loadIfInstalled(() => import(name))
    // A name with a colon, such as `node:sqlite`, is a module of the runtime.
    const driver = beside ?? (name.includes(':') ? undefined : await loadIfInstalled(() => require(name)))
    if (driver !== undefined) return driver as Driver
  }
  throw new Error(advice)
}

async function loadIfInstalled(load: () => unknown): Promise<unknown> {
  try {
    return await load()
  } catch (error) {
    if (NOT_INSTALLED.test(String((error as { code?: unknown }).code))) return undefined
    throw error
  }
}

/**
 * Adds the name of a file or database to the message of an error. Errors that are not about the file or
 * database are rethrown unchanged: they name a flag or an animal, or are about the output.
 */
export async function using<T>(name: string, use: () => T | Promise<T>): Promise<T> {
  try {
    return await use()
  } catch (error) {
    if (isPetStoreError(error) && error.code !== 'service_unavailable') throw error
    if (error instanceof OutputError) throw error
    throw new Error(`cannot use ${name}: ${innermostMessage(error)}`)
  }
}

export function closeOnFailure<T>(close: () => Promise<void>, use: () => Promise<T>): Promise<T> {
  return use().catch(async (error: unknown) => {
    await close()
    throw error
  })
}
