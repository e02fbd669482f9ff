import { createRequire } from 'node:module'
import { join } from 'node:path'
import { isPetStoreError } from '../../src/errors.ts'
import type { ManagedBackEnd } from '../../src/index.ts'
import { innermostMessage } from '../../src/support/describe-value.ts'

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

/** Looks for the driver beside this package and in the current folder. Returns `undefined` if it is not installed. */
export async function loadDriver(name: string): Promise<unknown> {
  const beside = await loadIfInstalled(() => import(name))
  // A name with a colon, such as `node:sqlite`, is a module of the runtime.
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

/** Adds the place to the message of an error. `invalid_option` errors are rethrown unchanged, because they name a flag. */
export async function using<T>(place: string, use: () => T | Promise<T>): Promise<T> {
  try {
    return await use()
  } catch (error) {
    if (isPetStoreError(error) && error.code === 'invalid_option') throw error
    throw new Error(`cannot use ${place}: ${innermostMessage(error)}`)
  }
}

export async function closeOnFailure<T>(close: () => Promise<void>, use: () => Promise<T>): Promise<T> {
  try {
    return await use()
  } catch (error) {
    await close()
    throw error
  }
}
