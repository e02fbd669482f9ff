import { inspect } from 'node:util'
import { isPetStoreError } from '../../../src/errors.ts'
import { originForm, pathOf } from '../../../src/http/request.ts'
import type { ErrorReport, PetStoreOptions, ResponseReport } from '../../../src/index.ts'
import { isNotice, MAX_FAULT, MAX_PATH } from '../../../src/reports/observers.ts'
import { innermostMessage } from '../../../src/support/describe-value.ts'
import { readableLines, readableText, withoutSecrets } from '../../../src/support/readable-text.ts'
import type { LogFormat } from '../terminal/flags.ts'
import { printError, readableJson } from '../terminal/output.ts'

/** In UTF-16 code units. */
const MAX_LOG_LINE = 1_000

/** @param secrets - texts that no log may contain, such as the tokens of `--key` */
export function logTo(
  format: LogFormat | undefined,
  secrets: readonly string[] = [],
): Pick<PetStoreOptions, 'onError' | 'onResponse'> {
  /** Without the query, because clients put tokens there by mistake. */
  const pathIn = (target = '') => withoutSecrets(pathOf(originForm(target)), MAX_PATH, secrets)

  /**
   * Prints one line for a notice or an unavailable back end. Any other error may be a bug, so its
   * stack is printed too.
   */
  const logFault = (error: unknown, { method, target }: ErrorReport) => {
    if (isNotice(error)) return printError(causeOf(error), secrets)
    const fault =
      isPetStoreError(error) && error.code === 'service_unavailable' ? innermostMessage(error) : inspect(error)
    const request = method === undefined ? '' : `${readableText(`${method} ${pathIn(target)}`, MAX_LOG_LINE, secrets)} `
    console.error(`petstore: ${request}failed: ${readableLines(fault, MAX_FAULT, secrets)}`)
  }

  const logFaultAsJson = (error: unknown, report: ErrorReport) => {
    const level = isNotice(error) ? 'warn' : 'error'
    const stack = error instanceof Error && !isNotice(error) ? error.stack : undefined
    const message = withoutSecrets(causeOf(error), MAX_LOG_LINE, secrets)
    const target = report.target && pathIn(report.target)
    console.error(readableJson({ time: new Date(), level, ...report, target, error: message, stack }, secrets))
  }

  const logResponse = ({ method, target, status, keyId, clientAddress, durationMs }: ResponseReport) => {
    const client = `${clientAddress ?? 'unknown address'} ${keyId ?? 'no key'}`
    const line = `${new Date().toISOString()} ${status} ${method} ${pathIn(target)} ${client} ${durationMs} ms`
    console.log(readableText(line, MAX_LOG_LINE, secrets))
  }

  const logResponseAsJson = (report: ResponseReport) => {
    const target = pathIn(report.target)
    console.log(readableJson({ time: new Date(), level: 'info', ...report, target }, secrets))
  }

  if (format === 'json') return { onError: logFaultAsJson, onResponse: logResponseAsJson }
  return { onError: logFault, ...(format && { onResponse: logResponse }) }
}

/**
 * Returns the message of an error, with the flag `--trust-proxy` instead of the option
 * `trustProxy`.
 */
function causeOf(error: unknown): string {
  return innermostMessage(error).replace(/trustProxy:?/g, '--trust-proxy')
}
