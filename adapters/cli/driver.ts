import { createRequire } from 'node:module'
import { join } from 'node:path'
import { isPetStoreError } from '../../src/errors.ts'
import type { ManagedBackEnd } from '../../src/index.ts'

/** A back end that is open and ready for use. */
export interface OpenedBackEnd extends ManagedBackEnd {
  /** The name of the file or database, for messages. It contains no password. */
  readonly place: string
  close(): Promise<void>
}

const NOT_INSTALLED = new Set([
  'ERR_MODULE_NOT_FOUND',
  'MODULE_NOT_FOUND',
  'ERR_UNKNOWN_BUILTIN_MODULE',
  'ERR_UNSUPPORTED_ESM_URL_SCHEME',
])

/** Loads a driver that is installed beside this package or in the current folder. Returns `undefined` if neither has it. */
export async function loadDriver(name: string): Promise<unknown> {
  const beside = await loadIfInstalled(() => import(name))
  // A name such as `node:sqlite` is a module of the runtime, so it is not looked for in the current folder.
  if (beside !== undefined || name.includes(':')) return beside
  return loadIfInstalled(() => createRequire(join(process.cwd(), 'petstore'))(name))
}

async function loadIfInstalled(load: () => unknown): Promise<unknown> {
  try {
    return await load()
  } catch (error) {
    if (NOT_INSTALLED.has(String((error as { code?: unknown }).code))) return undefined
    throw error
  }
}

/**
 * Calls `use`, which uses a file or a database.
 *
 * @throws {Error} with one line that names the place and the cause; `invalid_option` errors are rethrown unchanged
 */
export async function using<T>(place: string, use: () => T | Promise<T>): Promise<T> {
  try {
    return await use()
  } catch (error) {
    if (isPetStoreError(error) && error.code === 'invalid_option') throw error
    throw new Error(`cannot use ${place}: ${reason(error)}`)
  }
}

/** Calls `use`. If it fails, closes what it uses, and rethrows the error. */
export async function closeOnFailure<T>(close: () => Promise<void>, use: () => Promise<T>): Promise<T> {
  try {
    return await use()
  } catch (error) {
    await close()
    throw error
  }
}

/** Returns the message of the innermost cause of an error, because that message is the most specific. */
export function reason(error: unknown): string {
  const { cause, errors, message, code } = error as {
    cause?: unknown
    errors?: unknown[]
    message?: string
    code?: string
  }
  if (cause !== undefined) return reason(cause)
  if (Array.isArray(errors) && errors.length > 0) return reason(errors[0])
  return message || code || String(error)
}
