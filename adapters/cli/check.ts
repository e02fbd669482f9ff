import { isErrorCode } from '../../src/errors.ts'
import { innermostCause } from '../../src/support/describe-value.ts'
import { readableText } from '../../src/support/readable-text.ts'
import * as suite from '../../src/testing/suites/http/client.ts'
import type { HttpContractRow } from '../../src/testing/suites/http/rule.ts'
import { httpContractRows } from '../../src/testing/suites/http/suite.ts'
import { MAX_LINE, printable, printError, readableJson } from './terminal/output.ts'

export interface CheckFlags {
  readonly key: string
  readonly limitedKey?: string
  readonly contractOnly?: true
  /** The time limit of each request, in seconds. */
  readonly timeout: number
  readonly json?: true
}

export interface RowResult extends Pick<HttpContractRow, 'title' | 'basis'> {
  readonly result: 'pass' | 'fail' | 'skip' | 'not run'
  /** Why the row failed, was skipped or was not run. A row is one test of the contract. */
  readonly reason?: string
}

export interface CheckHooks extends Pick<suite.HttpContractOptions, 'fetch' | 'clock'> {
  /**
   * Called before the check waits for a rate limit to end. `seconds` is the length of this wait.
   */
  readonly onWait?: (seconds: number) => void
  /**
   * Called when the server refuses connections, with the title of the row whose request was the
   * last to reach it.
   */
  readonly onStop?: (row: string) => void
  readonly onRow?: (row: RowResult) => void
}

/**
 * After this many successive rows without a response, the check stops. Each further row would wait
 * for the time limit.
 */
const MAX_SILENT_ROWS = 3

const NEEDS_LIMITED_KEY = 'needs --limited-key, a key whose limit the check uses up'
const NOT_RUN = new Error()

/** Throws if the server does not respond, stops responding, or rejects the key. */
export async function checkServer(url: string, flags: CheckFlags, hooks: CheckHooks = {}): Promise<RowResult[]> {
  const { key: token, limitedKey: limitedToken, contractOnly, timeout } = flags
  const { fetch: send = globalThis.fetch, clock, onWait, onStop, onRow } = hooks
  let current = 'the first request'
  /** The row whose request was the last one that reached the server. */
  let reachedBy = current
  let isGone = false
  const fetch = async (url: string, init: RequestInit) => {
    const response = send(url, init)
    const outcome = await response.catch((error: unknown) => error)
    if (['ECONNREFUSED', 'ConnectionRefused'].includes(innermostCause(outcome).code ?? '')) isGone = true
    else reachedBy = current
    return response
  }
  const target = { baseUrl: url, token, limitedToken, timeout: timeout * 1_000, fetch, clock }
  const client = suite.contractClient(target, onWait)
  await requireServer(client)
  const errorOf = async ({ title, needsLimitedKey, check }: HttpContractRow): Promise<Error | undefined> => {
    if (needsLimitedKey && limitedToken === undefined) return new suite.LimitReached(NEEDS_LIMITED_KEY)
    if (isGone) return NOT_RUN
    current = title
    const error = (await check(client).catch((error: Error) => error)) || undefined
    if (isGone) onStop?.(reachedBy)
    // If no request of this row reached the server, the row was not run.
    return isGone && reachedBy !== title ? NOT_RUN : error
  }
  const results: RowResult[] = []
  let silentRows = 0
  for (const row of httpContractRows) {
    if (contractOnly && row.basis === 'decision') continue
    const error = await errorOf(row)
    // Hides the tokens: a hostile server can send them back in texts that the reason quotes.
    const reason = error && readableText(error.message, MAX_LINE, [token, limitedToken ?? ''])
    const result = { title: row.title, basis: row.basis, result: resultOf(error), ...(reason && { reason }) }
    results.push(result)
    onRow?.(result)
    silentRows = error instanceof suite.NoResponse ? silentRows + 1 : 0
    if (silentRows === MAX_SILENT_ROWS)
      throw new Error(
        `the server has stopped responding: ${MAX_SILENT_ROWS} successive rules got no response within ${timeout} seconds`,
      )
  }
  return results
}

function resultOf(error: Error | undefined): RowResult['result'] {
  if (error === undefined) return 'pass'
  if (error === NOT_RUN) return 'not run'
  return error instanceof suite.LimitReached ? 'skip' : 'fail'
}

/**
 * Sends one request. Throws if there is no server, no API at this URL, or no valid key, because
 * then every row would fail.
 */
async function requireServer(client: suite.ContractClient): Promise<void> {
  const { url, status, json } = await client.send('GET /pets?limit=1').catch((error: Error) => {
    if (error instanceof suite.LimitReached) return { url: '', status: 429, json: undefined }
    throw new Error(`cannot use the server: ${error.message}`)
  })
  const { code } = Object(json) as { code?: unknown }
  // A hostile server may send anything as the code, such as the token or megabytes of text.
  const shown = isErrorCode(code) ? code : 'no known error code'
  if (status === 401) throw new Error(`--key: the server rejects this key (401, ${shown})`)
  const { origin, pathname } = new URL(url || 'http://localhost')
  if (status === 404 && !/\/v\d+\/pets$/.test(pathname))
    throw new Error(
      `expected the address of the API with its version, such as ${origin}/v1; there is nothing at ${origin}${pathname}`,
    )
}

export async function runCheck(url: string, flags: CheckFlags): Promise<void> {
  const onWait = (seconds: number) => printError(`the limit is used up; the check goes on in ${seconds} seconds`)
  const onStop = (row: string) => printError(`the server stopped at the rule "${row}", which is the likely cause`)
  const onRow = flags.json ? undefined : printRow()
  const results = await checkServer(url, flags, { onWait, onStop, onRow })
  process.exitCode = exitCodeOf(results)
  const json = () => readableJson({ url, ...summary(results), rows: results })
  console.log(flags.json ? json() : `\n${conclusion(results)}`)
}

/**
 * Returns 1 if a row of the contract fails, 2 if the check is incomplete. Rows that need
 * `--limited-key` do not count without it.
 */
export function exitCodeOf(results: readonly RowResult[]): number {
  const contract = results.filter(({ basis, reason }) => basis === 'contract' && reason !== NEEDS_LIMITED_KEY)
  if (contract.some(({ result }) => result === 'fail')) return 1
  const isIncomplete =
    contract.some(({ result }) => result !== 'pass') || results.some(({ result }) => result === 'not run')
  return isIncomplete ? 2 : 0
}

const HEADINGS = {
  contract: 'What the interface says',
  decision: 'What petstore-kit decided where the interface is silent',
} as const

function printRow(): (row: RowResult) => void {
  let heading: string | undefined
  return ({ title, basis, result, reason }) => {
    if (heading !== HEADINGS[basis]) console.log(`${heading === undefined ? '' : '\n'}${HEADINGS[basis]}`)
    heading = HEADINGS[basis]
    const word = result === 'fail' ? 'FAIL' : result
    console.log(printable(`  ${word}  ${title}${reason === undefined ? '' : `: ${reason}`}`))
  }
}

function summary(results: readonly RowResult[]) {
  const count = (basis: RowResult['basis'], result: RowResult['result']) =>
    results.filter((row) => row.basis === basis && row.result === result).length
  const counts = (basis: RowResult['basis']) => ({
    pass: count(basis, 'pass'),
    fail: count(basis, 'fail'),
    skip: count(basis, 'skip'),
    notRun: count(basis, 'not run'),
  })
  return { contract: counts('contract'), decision: counts('decision') }
}

const VERDICTS = [
  'The server meets the interface.',
  'The server does not meet the interface.',
  'The check is incomplete.',
]

function conclusion(results: readonly RowResult[]): string {
  const { contract, decision } = summary(results)
  const say = ({ pass, fail, skip, notRun }: typeof contract) =>
    `${pass} pass, ${fail} fail, ${skip} skipped${notRun > 0 ? `, ${notRun} not run` : ''}.`
  const hasDecisions = results.some(({ basis }) => basis === 'decision')
  const decisions = hasDecisions ? `\nDecisions: ${say(decision)}` : ''
  return `Interface: ${say(contract)}${decisions}\n${VERDICTS[exitCodeOf(results)]}`
}
