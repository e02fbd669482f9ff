import { inspect } from 'node:util'
import { isPetStoreError } from '../../src/errors.ts'
import { originForm, pathOf } from '../../src/http/request.ts'
import type { ErrorReport, PetStoreOptions, ResponseReport } from '../../src/index.ts'
import { shorten } from '../../src/support/describe-value.ts'
import { reason } from './driver.ts'
import type { LogFormat } from './flags.ts'
import { escapeControls, escaped, report, withoutSecrets } from './output.ts'

/** Returns pet store options that print faults and, if a log format is given, responses. */
export function logTo(format: LogFormat | undefined): Pick<PetStoreOptions, 'onError' | 'onResponse'> {
  if (format === 'json') return { onError: logFaultAsJson, onResponse: logResponseAsJson }
  return { onError: logFault, ...(format && { onResponse: logResponse }) }
}

/** The longest path in a log, in UTF-16 code units. */
const MAX_PATH = 200

/** Decodes letters, digits and `_` that need no percent-encoding (RFC 3986, section 2.3), because a token may be hidden behind it. */
export function withPlainWords(text: string): string {
  return text.replace(/%[3-7][0-9a-f]/gi, (code) => {
    const character = String.fromCharCode(Number.parseInt(code.slice(1), 16))
    return /\w/.test(character) ? character : code
  })
}

/** Returns the path of a target for a log. Queries are left out, because clients put tokens there by mistake. */
export function loggedPath(target = ''): string {
  return shorten(withoutSecrets(withPlainWords(pathOf(originForm(target)))), MAX_PATH)
}

/** Returns one line of JSON. */
function asLine(entry: object): string {
  return escapeControls(JSON.stringify(entry))
}

/** Returns the cause of an error. The option of the adapter has a flag. */
function causeOf(error: unknown): string {
  return reason(error).replace(/trustProxy:?/g, '--trust-proxy')
}

/** Prints one line if the cause is known not to be a bug, and otherwise the whole error with its stack. */
function logFault(error: unknown, { method, target }: ErrorReport): void {
  const code = isPetStoreError(error) ? error.code : ''
  if (code === 'untrusted_forwarded_for') return void report(causeOf(error))
  const lines = code === 'service_unavailable' ? [reason(error)] : inspect(error).split('\n')
  const fault = withoutSecrets(lines.map(escapeControls).join('\n'))
  const request = method === undefined ? '' : `${escaped(`${method} ${loggedPath(target)}`)} `
  console.error(`petstore: ${request}failed: ${fault}`)
}

function logFaultAsJson(error: unknown, { method, target }: ErrorReport): void {
  const stack = error instanceof Error ? error.stack : undefined
  const entry = {
    time: new Date(),
    level: 'error',
    method,
    target: target && loggedPath(target),
    error: causeOf(error),
    stack,
  }
  console.error(withoutSecrets(asLine(entry)))
}

function logResponse({ method, target, status, keyId, clientAddress, durationMs }: ResponseReport): void {
  const client = `${clientAddress ?? 'unknown address'} ${keyId ?? 'no key'}`
  const line = `${new Date().toISOString()} ${status} ${method} ${loggedPath(target)} ${client} ${durationMs} ms`
  console.log(escaped(line))
}

function logResponseAsJson(response: ResponseReport): void {
  console.log(asLine({ time: new Date(), level: 'info', ...response, target: loggedPath(response.target) }))
}
