import { PetStoreError } from './errors.ts'
import type { OwnResponse } from './http/response.ts'
import { authenticate, MALFORMED_TOKEN, unauthorized } from './keys/authenticate.ts'
import { useRecorder } from './keys/record-use.ts'
import type { ApiKey } from './model.ts'
import type { ResolvedOptions } from './options.ts'
import type { BackEnd, QuotaStore } from './ports.ts'
import { type AskQuota, allowOnFailure } from './quota/allow-on-failure.ts'
import { untouchedCount } from './quota/counting-rule.ts'
import { limitEvents } from './quota/limit-events.ts'
import {
  type Allowance,
  allowanceOf,
  limitsOf,
  missingLimits,
  quotaRequestOf,
  tooManyRequests,
} from './quota/rate-limit.ts'
import { rememberRefusals } from './quota/remember-refusals.ts'
import { peekOf } from './quota/usage.ts'
import { aboutRequest, reportFault, reportLimit } from './reports/observers.ts'
import { callOf, type RequestContext } from './request-context.ts'
import { wrapPort } from './support/wrap-port.ts'

/** The key of a request and what is left of its limits, or the response to a client that may not go on. */
type CheckedCaller =
  | { readonly key: ApiKey; readonly allowance: Allowance; readonly rejection?: undefined }
  | { readonly rejection: OwnResponse; readonly key?: undefined; readonly allowance?: undefined }

const NO_TOKEN68 =
  'A bearer token was rejected with 401, and not looked up: expected the form token68 of RFC 6750 (letters, digits and -._~+/, perhaps = at the end), ' +
  'got another form. If your own key store has such tokens, give them to your clients in base64url. This is reported once'

/**
 * Returns the step of a request that finds out who sends it, and whether they may: for requests to the API and to routes of the
 * host. Also returns the quota store whose `reset` lets limits be reported again.
 */
export function callerCheck(
  { keyStore, quota: guardedQuota }: Pick<BackEnd, 'keyStore' | 'quota'>,
  { clock, timeouts, onQuotaFailure, quotaRules, observers, warnAt }: ResolvedOptions,
) {
  const rememberingQuota = rememberRefusals(guardedQuota)
  const asking: (ask: QuotaStore['spend']) => AskQuota =
    onQuotaFailure === 'allow' ? allowOnFailure(clock) : (ask) => (request) => ask(request)
  const spend = asking((request) => rememberingQuota.spend(request))
  // Without `peek`, this throws, also with `onQuotaFailure: 'allow'`.
  const peek: AskQuota = (request, onFailure) => asking(peekOf(rememberingQuota))(request, onFailure)
  const limitReports = observers.onLimit && limitEvents(warnAt)
  const quota = wrapPort(rememberingQuota, {
    reset: async (call, { subject }) => {
      await call()
      limitReports?.forget(subject)
    },
  })
  const recordUse = useRecorder(keyStore, {
    clock,
    timeout: timeouts.timeout,
    onFailure: (error) => reportFault(error, observers, {}),
  })
  let isMalformedTokenReported = false

  /**
   * Returns the key of the request, or the response to a client without a valid key or over its limit.
   * If `isCounted` is false, the quota store counts nothing.
   */
  async function checkCaller(context: RequestContext, isCounted = true): Promise<CheckedCaller> {
    const caller = await authenticate(context.request, keyStore, clock, callOf(context))
    context.key = caller.key
    if (caller.key) recordUse(caller.key)
    if (caller === MALFORMED_TOKEN) reportMalformedToken(context)
    const allowance = await enforceQuota(context, isCounted ? spend : peek)
    if (allowance.refusal) return { rejection: tooManyRequests(allowance.refusal) }
    return caller.key ? { key: caller.key, allowance } : { rejection: unauthorized(caller) }
  }

  /** Tells the host once that a token was not looked up, because its own key store may have tokens of this form. */
  function reportMalformedToken(context: RequestContext): void {
    if (isMalformedTokenReported) return
    isMalformedTokenReported = true
    reportFault(new PetStoreError('malformed_token', NO_TOKEN68), observers, aboutRequest(context))
  }

  /** Asks the quota store, and returns what is left of the limits, or why the request gets 429. */
  async function enforceQuota(context: RequestContext, askQuota: AskQuota): Promise<Allowance> {
    const { key, clientAddress } = context
    const now = clock.now()
    const limits = limitsOf(key, quotaRules)
    // Without limits, each request gets 500. It is counted anyway, so that the customer cannot
    // fill the operator's log.
    context.limits = limits ?? quotaRules.anonymous
    const quotaRequest = quotaRequestOf(key, clientAddress, context.limits, quotaRules, now)
    context.subject = quotaRequest?.subject ?? ''
    const onFailure = (error: unknown) => reportFault(error, observers, aboutRequest(context))
    const count = quotaRequest && (await askQuota(quotaRequest, onFailure))
    const allowance = allowanceOf(count ?? untouchedCount(now), context.limits)
    context.count = count
    context.allowance = allowance
    if (key && count && limitReports)
      for (const report of limitReports.takeNew(key, quotaRequest, count)) reportLimit(observers, context, report)
    if (key && !limits && !allowance.refusal) throw missingLimits(key)
    return allowance
  }

  return { checkCaller, quota }
}
