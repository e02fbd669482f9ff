import { isPetStoreError } from '../../src/errors.ts'
import type { ErrorReport, PetStoreOptions, ResponseReport } from '../../src/index.ts'
import { reason } from './driver.ts'
import type { LogFormat } from './flags.ts'
import { escaped } from './output.ts'

/** Returns the options of a pet store that print its faults and, with a format, its responses. */
export function logTo(format: LogFormat | undefined): Pick<PetStoreOptions, 'onError' | 'onResponse'> {
  if (format === 'json') return { onError: logFaultAsJson, onResponse: logResponseAsJson }
  return { onError: logFault, ...(format && { onResponse: logResponse }) }
}

/** Prints one line if an engine is away, and the whole error if the code may be wrong. */
function logFault(error: unknown, { method, target }: ErrorReport): void {
  const isAway = isPetStoreError(error) && error.code === 'service_unavailable'
  console.error(`petstore: ${method} ${escaped(target)} failed:`, isAway ? reason(error) : error)
}

function logFaultAsJson(error: unknown, { method, target }: ErrorReport): void {
  const stack = error instanceof Error ? error.stack : undefined
  console.error(JSON.stringify({ time: new Date(), level: 'error', method, target, error: reason(error), stack }))
}

function logResponse({ method, target, status, keyId, clientAddress, durationMs }: ResponseReport): void {
  const client = `${clientAddress ?? 'unknown address'} ${keyId ?? 'no key'}`
  console.log(`${new Date().toISOString()} ${status} ${method} ${escaped(target)} ${client} ${durationMs} ms`)
}

function logResponseAsJson(report: ResponseReport): void {
  console.log(JSON.stringify({ time: new Date(), level: 'info', ...report }))
}
