import { createRequire } from 'node:module'
import { join } from 'node:path'

const NOT_INSTALLED = new Set([
  'ERR_MODULE_NOT_FOUND',
  'MODULE_NOT_FOUND',
  'ERR_UNKNOWN_BUILTIN_MODULE',
  'ERR_UNSUPPORTED_ESM_URL_SCHEME',
])

/** Loads a driver, from beside this package or from the folder that the command runs in; `undefined` where it is in neither. */
export async function loadDriver(name: string): Promise<unknown> {
  const beside = await attempt(() => import(name))
  // What a runtime brings is in no folder, but a folder may bear its name.
  if (beside !== undefined || name.includes(':')) return beside
  return attempt(() => createRequire(join(process.cwd(), 'petstore'))(name))
}

async function attempt(load: () => unknown): Promise<unknown> {
  try {
    return await load()
  } catch (error) {
    if (NOT_INSTALLED.has(String((error as { code?: unknown }).code))) return undefined
    throw error
  }
}

/** Does something with an engine; where that fails, the error says which engine it was, in one line. */
export async function using<T>(what: string, use: () => T | Promise<T>): Promise<T> {
  try {
    return await use()
  } catch (error) {
    throw unusable(what, error)
  }
}

/** The error of an engine that cannot be used. */
export function unusable(what: string, error: unknown): Error {
  return new Error(`cannot use ${what}: ${reason(error)}`)
}

/** Why an engine cannot be used: what lies deepest says most. */
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
