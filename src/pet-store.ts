import { faultReply, withTimeout } from './faults/guard-ports.ts'
import { reportFault, reportResponse } from './faults/observers.ts'
import { addCorsHeaders, corsRules, isPreflight, preflight } from './http/cors.ts'
import { type ApiRequest, toApiRequest } from './http/request.ts'
import { type Target, targetReader } from './http/request-target.ts'
import { type ApiResponse, errorReply, headReply, toResponse } from './http/response.ts'
import { matchRoute, noOperation, type Route } from './http/routes.ts'
import { authenticate, type Caller, unauthorized } from './keys/authenticate.ts'
import { memoryQuota } from './memory/quota.ts'
import { memoryStorage } from './memory/storage.ts'
import type { ApiKey, PlanLimits } from './model.ts'
import { checkPetStoreOptions, type PetStoreOptions } from './options.ts'
import { addDeprecationHeaders, isRemoved } from './pets/deprecation.ts'
import { linkBase } from './pets/link.ts'
import { createPet, getPet, listPets } from './pets/operations.ts'
import { pageWriter } from './pets/written-page.ts'
import type { KeyStore, MaybePromise, QuotaCount, QuotaRequest } from './ports.ts'
import { untouched } from './quota/fixed-windows.ts'
import {
  type Allowance,
  allowanceOf,
  limitsOf,
  quotaRequest,
  rateLimitHeaders,
  subjectReader,
  tooManyRequests,
} from './quota/rate-limit.ts'
import { andThen, isPending } from './support/maybe-promise.ts'
import { invalidOption } from './support/option-rules.ts'
import { systemClock } from './support/system-clock.ts'

/** A pet store. Its functions may be used detached, and it may be a module's default export on Bun, Deno and Workers. */
export interface PetStore {
  /**
   * Answers a standard `Request`. It ignores any further argument, and rejects only what is no Request, such as one of Node:
   * that is for the doors, such as `toNodeHandler`.
   */
  readonly fetch: (request: Request) => Promise<Response>
  /** Answers a request given as plain values: what every adapter calls. It never rejects. */
  readonly handle: (request: ApiRequest) => Promise<ApiResponse>
  /** The path under which clients see the API, without a trailing slash. */
  readonly basePath: string
}

/** One request on its way through the pipeline, and what is known of it so far. */
interface Exchange {
  readonly request: ApiRequest
  readonly target: Target
  readonly route: Route
  readonly arrivedAt: number
  /** The client's address; `null` until it was asked for. */
  clientAddress: string | null | undefined
  key: ApiKey | undefined
  limits: PlanLimits
  allowance: Allowance | undefined
}

/**
 * Creates a pet store: the whole service as one function from request to response.
 *
 * @throws {PetStoreError} `invalid_option`, naming the option that is wrong
 * @example
 * ```ts
 * import { createPetStore, memory } from 'petstore-kit'
 *
 * const backEnd = memory()
 * const { token } = await backEnd.keyStore.issue({ plan: 'free' })
 * const petStore = createPetStore(backEnd)
 * const response = await petStore.fetch(
 *   new Request('http://localhost/v1/pets', { headers: { authorization: `Bearer ${token}` } }),
 * )
 * console.log(response.status) // 200
 * ```
 */
export function createPetStore(options: PetStoreOptions = {}): PetStore {
  const { clock, ports, rules, address, cors, onQuotaFailure, observers, ...settings } = settle(options)
  const readTarget = targetReader(settings.basePath)
  const writePage = pageWriter()

  /** Answers at once where every port has answered at once. It never throws or rejects. */
  function respond(request: ApiRequest): MaybePromise<ApiResponse> {
    let exchange: Exchange | undefined
    try {
      exchange = open(request)
      const reply = answer(exchange)
      return isPending(reply) ? later(reply, exchange) : seal(reply, exchange)
    } catch (error) {
      return fail(error, request, exchange)
    }
  }

  async function later(reply: Promise<ApiResponse>, exchange: Exchange): Promise<ApiResponse> {
    try {
      return seal(await reply, exchange)
    } catch (error) {
      return fail(error, exchange.request, exchange)
    }
  }

  /** What a door or a clock throws as well is answered without what they would have told. */
  function fail(error: unknown, request: ApiRequest, exchange: Exchange | undefined): ApiResponse {
    try {
      const reply = faultReply(error, observers, request)
      return exchange ? seal(reply, exchange) : reply
    } catch {
      return errorReply('internal_error')
    }
  }

  function open(request: ApiRequest): Exchange {
    const target = readTarget(request)
    const route = matchRoute(request.method, target.route)
    const arrivedAt = clock.now()
    return {
      request,
      target,
      route,
      arrivedAt,
      clientAddress: null,
      key: undefined,
      limits: rules.anonymous,
      allowance: undefined,
    }
  }

  function answer(exchange: Exchange): MaybePromise<ApiResponse> {
    const { request, route } = exchange
    // A connection that closes while a port is waited for has no address any more.
    if (observers.onResponse) exchange.clientAddress = request.clientAddress ?? undefined
    if (cors && isPreflight(request)) return preflight(cors, route)
    const caller = authenticate(request, ports.keyStore, clock)
    if (!isPending(caller)) return charge(caller, exchange)
    // Should the door throw below, nobody hears of the caller any more.
    caller.catch(() => {})
    if (exchange.clientAddress === null) exchange.clientAddress = request.clientAddress ?? undefined
    return caller.then((caller) => charge(caller, exchange))
  }

  /** Counts the request against what its caller is allowed. */
  function charge(caller: Caller, exchange: Exchange): MaybePromise<ApiResponse> {
    const { request } = exchange
    const now = clock.now()
    exchange.key = caller.key
    exchange.limits = limitsOf(caller, rules)
    const spending = quotaRequest(caller, exchange, rules, now)
    if (!spending) return admit(caller, exchange, untouched(now))
    const count = onQuotaFailure === 'refuse' ? ports.quota.spend(spending) : spendOrLetPass(spending, request)
    return andThen(count, (count) => admit(caller, exchange, count))
  }

  function admit(caller: Caller, exchange: Exchange, count: QuotaCount): MaybePromise<ApiResponse> {
    const allowance = allowanceOf(count, exchange.limits)
    exchange.allowance = allowance
    if (allowance.refusal) return tooManyRequests(allowance.refusal)
    return caller.key ? perform(exchange) : unauthorized(caller.refusal)
  }

  async function spendOrLetPass(spending: QuotaRequest, request: ApiRequest): Promise<QuotaCount> {
    try {
      return await ports.quota.spend(spending)
    } catch (error) {
      reportFault(error, observers, request)
      return untouched(spending.now)
    }
  }

  function perform({ request, target, route, arrivedAt }: Exchange): MaybePromise<ApiResponse> {
    switch (route.kind) {
      case 'listPets':
        return listPets(ports.storage, request, target, address, writePage)
      case 'createPet':
        return createPet(ports.storage, request, settings.bodyLimit, settings.defaultStatus)
      case 'getPet':
        if (isRemoved(arrivedAt, settings.sunset)) return errorReply('operation_removed')
        return getPet(ports.storage, request, route.petId)
      default:
        return noOperation(route)
    }
  }

  /** Adds what stands on every response, whatever its status. */
  function seal(reply: ApiResponse, exchange: Exchange): ApiResponse {
    const { request, route, target, arrivedAt } = exchange
    const allowance = exchange.allowance ?? allowanceOf(untouched(arrivedAt), exchange.limits)
    const headers = [...reply.headers, ...rateLimitHeaders(allowance)]
    if (route.kind === 'getPet') addDeprecationHeaders(headers, `${address(target)}/pets`)
    if (cors) addCorsHeaders(headers, cors, request)
    if (observers.onResponse) reportResponse(observers, exchange, reply.status, clock.now() - arrivedAt)
    const { status, body } = reply
    return request.method === 'HEAD' ? headReply(status, body, headers) : { status, headers, body }
  }

  return {
    fetch: async (request) => {
      if (!request?.headers?.get) throw invalidOption('request', 'a Request', request)
      return toResponse(await respond(toApiRequest(request)))
    },
    handle: (request) => Promise.resolve(respond(request)),
    basePath: settings.basePath,
  }
}

/** Nobody could ever issue a key of a store that nobody has: without the option, every key is unknown. */
const NO_KEYS: KeyStore = { find: () => undefined }

/** Checks the options and fills in what they leave open. The defaults of the whole service stand here. */
function settle(options: PetStoreOptions) {
  checkPetStoreOptions(options)
  const { clock = systemClock, timeout = 10_000, cors = false, ban = {}, plans = {}, basePath = '/v1' } = options
  const backEnd = {
    storage: options.storage ?? memoryStorage(),
    keyStore: options.keyStore ?? NO_KEYS,
    quota: options.quota ?? memoryQuota(),
  }
  const allPlans = {
    free: { perMinute: 60, perDay: 1_000 },
    pro: { perMinute: 300, perDay: 10_000 },
    business: { perMinute: 1_000, perDay: 100_000 },
    ...plans,
  }
  const root = basePath.replace(/\/$/, '')
  return {
    clock,
    ports: withTimeout(backEnd, timeout),
    rules: {
      plans: allPlans,
      subjectOf: subjectReader(),
      anonymous: options.anonymous ?? allPlans.free,
      ban: ban && { afterRefusals: ban.afterRefusals, seconds: ban.seconds ?? 300 },
    },
    address: linkBase(root, options.publicUrl),
    cors: cors && corsRules(cors === true ? {} : cors),
    onQuotaFailure: options.onQuotaFailure ?? 'refuse',
    observers: { onError: options.onError, onResponse: options.onResponse },
    basePath: root,
    defaultStatus: options.defaultStatus === undefined ? 'available' : options.defaultStatus,
    bodyLimit: options.bodyLimit ?? 65_536,
    sunset: options.sunset ?? 'enforce',
  } as const
}
