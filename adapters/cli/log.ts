import { isPetStoreError } from '../../src/errors.ts'
import type { ErrorReport, PetStoreOptions, ResponseReport } from '../../src/index.ts'
import { reason } from './driver.ts'
import type { LogFormat } from './flags.ts'
import { escaped } from './output.ts'

/** Returns pet store options that print faults and, if a log format is given, responses. */
export function logTo(format: LogFormat | undefined): Pick<PetStoreOptions, 'onError' | 'onResponse'> {
  if (format === 'json') return { onError: logFaultAsJson, onResponse: logResponseAsJson }
  return { onError: logFault, ...(format && { onResponse: logResponse }) }
}

/** Prints one line if the back end is unavailable, and otherwise the whole error, which may be a bug. */
function logFault(error: unknown, { method, target }: ErrorReport): void {
  const isAway = isPetStoreError(error) && error.code === 'service_unavailable'
  console.error(
    `petstore: ${method === undefined ? '' : `${method} ${escaped(target ?? '')} `}failed:`,
    isAway ? reason(error) : error,
  )
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
