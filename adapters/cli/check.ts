import { isErrorCode } from '../../src/errors.ts'
import type { Clock } from '../../src/index.ts'
import { readableText } from '../../src/support/readable-text.ts'
import { wrapPort } from '../../src/support/wrap-port.ts'
import {
  ConnectionRefused,
  type ContractClient,
  contractClient,
  LimitReached,
  NoResponse,
} from '../../src/testing/http-contract/client.ts'
import type { HttpContractRow } from '../../src/testing/http-contract/row.ts'
import { httpContractRows } from '../../src/testing/http-contract/suite.ts'
import { MAX_LINE, printable, printError, readableJson } from './output.ts'

export interface CheckFlags {
  readonly key: string
  readonly limitedKey?: string
  readonly contractOnly?: true
  /** The time limit of each request, in seconds. */
  readonly timeout: number
  readonly json?: true
}

export interface RowResult {
  readonly title: string
  readonly basis: HttpContractRow['basis']
  readonly result: 'pass' | 'fail' | 'skip' | 'not run'
  /** Why the row failed, was skipped or was not run. A row is one test of the contract. */
  readonly reason?: string
}

export interface CheckHooks {
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>
  /** The clock to use if a response has no `Date` header. @default the system's clock */
  readonly clock?: Clock
  /** Called before each wait until a rate limit ends, with the number of seconds. */
  readonly onWait?: (seconds: number) => void
  /** Called when the server refuses connections, with the title of the row whose request was the last to reach it. */
  readonly onStop?: (row: string) => void
  readonly onRow?: (row: RowResult) => void
}

/** The check stops after this many tests (rows of the contract) in succession without a response: each waits for the time limit. */
const MAX_SILENT_ROWS = 3

const NEEDS_LIMITED_KEY = 'needs --limited-key, a key that it uses up'

/** Throws if the server does not respond, stops responding, or rejects the key. */
export async function checkServer(url: string, flags: CheckFlags, hooks: CheckHooks = {}): Promise<RowResult[]> {
  const { key: token, limitedKey: limitedToken, contractOnly } = flags
  const { fetch, clock, onWait, onStop, onRow } = hooks
  const client = contractClient(
    { baseUrl: url, token, limitedToken, timeout: flags.timeout * 1_000, fetch, clock },
    onWait,
  )
  await requireServer(client)
  const results: RowResult[] = []
  let silentRows = 0
  /** The row whose request was the last one that reached the server. */
  let reachedBy = 'the first request'
  let isGone = false
  for (const row of httpContractRows) {
    if (contractOnly && row.basis === 'decision') continue
    const { title, basis, needsLimitedKey } = row
    let outcome: Pick<RowResult, 'result' | 'reason'> = { result: 'not run' }
    let error: Error | undefined
    if (needsLimitedKey && limitedToken === undefined) outcome = { result: 'skip', reason: NEEDS_LIMITED_KEY }
    else if (!isGone) {
      const onReached = () => {
        reachedBy = title
      }
      error = await row.check(watched(client, onReached)).then(
        () => undefined,
        (error: Error) => error,
      )
      outcome = outcomeOf(error)
    }
    if (error instanceof ConnectionRefused) {
      isGone = true
      onStop?.(reachedBy)
      // If no request of this row reached the server, the row was not run.
      if (reachedBy !== title) outcome = { result: 'not run' }
    }
    // The reason may contain the token, because a hostile server can send it back.
    const reason = outcome.reason && readableText(outcome.reason, MAX_LINE, [token, limitedToken ?? ''])
    const result = { title, basis, ...outcome, ...(reason && { reason }) }
    results.push(result)
    onRow?.(result)
    silentRows = error instanceof NoResponse ? silentRows + 1 : 0
    if (silentRows === MAX_SILENT_ROWS)
      throw new Error(
        `the server has stopped responding: ${MAX_SILENT_ROWS} rows in a row got no response within ${flags.timeout} seconds`,
      )
  }
  return results
}

/** Sends one request, and throws if there is no server, no API at this URL, or no valid key. Otherwise, every row would fail. */
async function requireServer(client: ContractClient): Promise<void> {
  const { url, status, json } = await client.send('GET /pets?limit=1').catch((error: Error) => {
    if (error instanceof LimitReached) return { url: '', status: 429, json: undefined }
    throw new Error(`cannot use the server: ${error.message}`)
  })
  const { code } = Object(json) as { code?: unknown }
  // A hostile server may send anything as the code, such as the token or megabytes of text.
  const shown = isErrorCode(code) ? code : 'no code of the interface'
  if (status === 401) throw new Error(`--key: the server rejects this key (401, ${shown})`)
  const { origin, pathname } = new URL(url || 'http://localhost')
  if (status === 404 && !/\/v\d+\/pets$/.test(pathname))
    throw new Error(
      `expected the address of the API with its version, such as ${origin}/v1; there is nothing at ${origin}${pathname}`,
    )
}

/** Returns a client that calls `onReached` after each request, unless the connection was refused. */
function watched(client: ContractClient, onReached: () => void): ContractClient {
  const watch = async <T>(send: () => Promise<T>): Promise<T> => {
    const response = send()
    await response.then(onReached, (error) => error instanceof ConnectionRefused || onReached())
    return response
  }
  return { ...client, ...wrapPort(client, { send: watch, sendLimited: watch }) }
}

function outcomeOf(error: Error | undefined): Pick<RowResult, 'result' | 'reason'> {
  if (!error) return { result: 'pass' }
  return { result: error instanceof LimitReached ? 'skip' : 'fail', reason: error.message }
}

export async function runCheck(url: string, flags: CheckFlags): Promise<void> {
  const onWait = (seconds: number) => printError(`the limit is used up; the check goes on in ${seconds} seconds`)
  const onStop = (row: string) => printError(`the server stopped at the row "${row}", which is the likely cause`)
  const onRow = flags.json ? undefined : printRow()
  const results = await checkServer(url, flags, { onWait, onStop, onRow })
  process.exitCode = exitCodeOf(results)
  const json = () => readableJson({ url, ...summary(results), rows: results })
  console.log(flags.json ? json() : `\n${conclusion(results)}`)
}

/**
 * Returns 1 if a row of the contract fails, 2 if the check is incomplete. Rows that need `--limited-key` do not count without it.
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
  const count = (basis: RowResult['basis']) => {
    const of = (result: RowResult['result']) =>
      results.filter((row) => row.basis === basis && row.result === result).length
    return { pass: of('pass'), fail: of('fail'), skip: of('skip'), notRun: of('not run') }
  }
  return { contract: count('contract'), decision: count('decision') }
}

function conclusion(results: readonly RowResult[]): string {
  const { contract, decision } = summary(results)
  const say = ({ pass, fail, skip, notRun }: typeof contract) =>
    `${pass} pass, ${fail} fail, ${skip} skipped${notRun > 0 ? `, ${notRun} not run` : ''}`
  const verdicts = [
    'The server meets the interface.',
    'The server does not meet the interface.',
    'The check is incomplete.',
  ]
  const hasDecisions = results.some(({ basis }) => basis === 'decision')
  return [
    `Interface: ${say(contract)}.`,
    ...(hasDecisions ? [`Decisions: ${say(decision)}.`] : []),
    verdicts[exitCodeOf(results)],
  ].join('\n')
}
