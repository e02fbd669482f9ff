import { type ApiRequest, RequestCall, type Target } from './http/request.ts'
import type { Route } from './http/routes.ts'
import type { ApiKey, PlanLimits } from './model.ts'
import type { Deprecation } from './operations.ts'
import type { QuotaCount } from './ports.ts'
import type { Allowance } from './quota/rate-limit.ts'

/** A request, and what the earlier steps have found out about it. */
export interface RequestContext {
  readonly request: ApiRequest
  readonly target: Target
  readonly route: Route
  /** The deprecation of the route's operation; `undefined` if there is none. */
  readonly deprecation: Deprecation | undefined
  readonly startedAt: number
  /**
   * The time of arrival by the monotonic clock, for the duration in reports. 0 if there is no
   * `onResponse`.
   */
  readonly arrivedAt: number
  /** The client's address; `undefined` if the adapter does not know it. */
  clientAddress: string | undefined
  /** The id for `X-Request-Id`; `undefined` without the option `requestId`. */
  readonly requestId: string | undefined
  key: ApiKey | undefined
  limits: PlanLimits
  /**
   * The subject whose requests are counted, such as `account:acme`. Idempotency keys of different
   * subjects are independent.
   */
  subject: string
  /** `undefined` for a request that is not counted, also while `onQuotaFailure: 'allow'` serves it. */
  count: QuotaCount | undefined
  allowance: Allowance | undefined
}

/** Returns what a port may know about a request. */
export function callOf({ request, clientAddress, route, key }: RequestContext): RequestCall {
  return new RequestCall(request, clientAddress, route.operation, key)
}
