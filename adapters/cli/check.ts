import { isErrorCode } from '../../src/errors.ts'
import { innermostCause } from '../../src/support/describe-value.ts'
import { readableText } from '../../src/support/readable-text.ts'
import * as suite from '../../src/testing/suites/http/client.ts'
import type { FurtherToken, HttpRule } from '../../src/testing/suites/http/rule.ts'
import { httpRules } from '../../src/testing/suites/http/suite.ts'
import { MAX_LINE, printable, printError, readableJson } from './terminal/output.ts'

export interface CheckFlags {
  readonly key: string
  readonly limitedKey?: string
  readonly readOnlyKey?: string
  /** The time limit of each request, in seconds. */
  readonly timeout: number
  readonly json?: true
}

export interface RuleResult extends Pick<HttpRule, 'title'> {
  readonly result: 'pass' | 'fail' | 'skip' | 'not run'
  /** Why the rule failed, was skipped or was not run. */
  readonly reason?: string
}

export interface CheckHooks extends Pick<suite.HttpContractOptions, 'fetch' | 'clock'> {
  /**
   * Called before the check waits for a rate limit to end. `seconds` is the length of this wait.
   */
  readonly onWait?: (seconds: number) => void
  /**
   * Called when the server refuses connections, with the title of the rule whose request was the
   * last to reach it.
   */
  readonly onStop?: (rule: string) => void
  readonly onRule?: (rule: RuleResult) => void
}

/**
 * After this many successive rules without a response, the check stops. Each further rule would
 * wait for the time limit.
 */
const MAX_SILENT_RULES = 3

/** Why a rule is skipped that needs a further key. */
const REASONS: Readonly<Record<FurtherToken, string>> = {
  limitedToken: 'needs --limited-key, a key whose limit the check uses up',
  readOnlyToken: 'needs --read-only-key, a key that may only read',
}
const NOT_RUN = new Error()

/** Throws if the server does not respond, stops responding, or rejects the key. */
export async function checkServer(url: string, flags: CheckFlags, hooks: CheckHooks = {}): Promise<RuleResult[]> {
  const { key: token, limitedKey: limitedToken, readOnlyKey: readOnlyToken, timeout } = flags
  const { fetch: send = globalThis.fetch, clock, onWait, onStop, onRule } = hooks
  let current = 'the first request'
  /** The rule whose request was the last one that reached the server. */
  let reachedBy = current
  let isGone = false
  const fetch = async (url: string, init: RequestInit) => {
    const response = send(url, init)
    const outcome = await response.catch((error: unknown) => error)
    if (['ECONNREFUSED', 'ConnectionRefused'].includes(innermostCause(outcome).code ?? '')) isGone = true
    else reachedBy = current
    return response
  }
  const tokens = { token, limitedToken, readOnlyToken }
  const target = { baseUrl: url, ...tokens, timeout: timeout * 1_000, fetch, clock }
  const client = suite.contractClient(target, onWait)
  await requireServer(client)
  const errorOf = async ({ title, needs, check }: HttpRule): Promise<Error | undefined> => {
    if (needs && tokens[needs] === undefined) return new suite.LimitReached(REASONS[needs])
    if (isGone) return NOT_RUN
    current = title
    const error = (await check(client).catch((error: Error) => error)) || undefined
    if (isGone) onStop?.(reachedBy)
    // If no request of this rule reached the server, the rule was not run.
    return isGone && reachedBy !== title ? NOT_RUN : error
  }
  const results: RuleResult[] = []
  let silentRules = 0
  for (const rule of httpRules) {
    const error = await errorOf(rule)
    // Hides the tokens: a hostile server can send them back in texts that the reason quotes.
    const reason = error && readableText(error.message, MAX_LINE, [token, limitedToken ?? '', readOnlyToken ?? ''])
    const result = { title: rule.title, result: resultOf(error), ...(reason && { reason }) }
    results.push(result)
    onRule?.(result)
    silentRules = error instanceof suite.NoResponse ? silentRules + 1 : 0
    if (silentRules === MAX_SILENT_RULES)
      throw new Error(
        `the server has stopped responding: ${MAX_SILENT_RULES} successive rules got no response within ${timeout} seconds`,
      )
  }
  return results
}

function resultOf(error: Error | undefined): RuleResult['result'] {
  if (error === undefined) return 'pass'
  if (error === NOT_RUN) return 'not run'
  return error instanceof suite.LimitReached ? 'skip' : 'fail'
}

/**
 * Sends one request. Throws if there is no server, no API at this URL, or no valid key, because
 * then every rule would fail.
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
  const onStop = (rule: string) => printError(`the server stopped at the rule "${rule}", which is the likely cause`)
  const onRule = flags.json ? undefined : printRule
  const results = await checkServer(url, flags, { onWait, onStop, onRule })
  process.exitCode = exitCodeOf(results)
  const json = () => readableJson({ url, ...countsOf(results), rules: results })
  console.log(flags.json ? json() : `\n${conclusion(results)}`)
}

/**
 * Returns 1 if a rule fails, 2 if the check is incomplete. Rules that need a further key do not
 * count without it.
 */
export function exitCodeOf(results: readonly RuleResult[]): number {
  const counted = results.filter(({ reason = '' }) => !Object.values(REASONS).includes(reason))
  if (counted.some(({ result }) => result === 'fail')) return 1
  return counted.every(({ result }) => result === 'pass') ? 0 : 2
}

function printRule({ title, result, reason }: RuleResult): void {
  const word = result === 'fail' ? 'FAIL' : result
  console.log(printable(`  ${word}  ${title}${reason === undefined ? '' : `: ${reason}`}`))
}

function countsOf(results: readonly RuleResult[]) {
  const count = (wanted: RuleResult['result']) => results.filter(({ result }) => result === wanted).length
  return { pass: count('pass'), fail: count('fail'), skip: count('skip'), notRun: count('not run') }
}

const VERDICTS = [
  'The server behaves as petstore-kit does.',
  'The server does not behave as petstore-kit does.',
  'The check is incomplete.',
]

function conclusion(results: readonly RuleResult[]): string {
  const { pass, fail, skip, notRun } = countsOf(results)
  const notRunText = notRun > 0 ? `, ${notRun} not run` : ''
  return `${pass} pass, ${fail} fail, ${skip} skipped${notRunText}.\n${VERDICTS[exitCodeOf(results)]}`
}
