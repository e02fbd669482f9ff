import { type Admit, type AdmitOptions, accessOf, admitThrough, type PlainAdmission } from './admission.ts'
import { callerCheck } from './caller-check.ts'
import { withDocumentedOptions } from './documented-options.ts'
import { type ErrorCode, PetStoreError } from './errors.ts'
import { guardPorts } from './guard-ports.ts'
import { addCorsHeaders, isPreflight, preflightResponse } from './http/cors.ts'
import { addDeprecationHeaders, isRemoved, removedResponse } from './http/deprecation.ts'
import { fetchThrough, type PetStoreFetch } from './http/fetch.ts'
import { type ApiRequest, hasUnknownExpectation, isAborted, readTarget } from './http/request.ts'
import { REQUEST_ID_HEADER, requestIdOf } from './http/request-id.ts'
import { type ApiResponse, errorResponse, headResponse, type OwnResponse } from './http/response.ts'
import { matchRoute, type PathParameters, type Route, unmatchedResponse } from './http/routes.ts'
import { permits } from './keys/authenticate.ts'
import { hostKeys, type Keys } from './keys/host-keys.ts'
import { memory } from './memory/index.ts'
import type { ApiKey } from './model.ts'
import { type OperationName, operations } from './operations.ts'
import { type PetStoreOptions, resolveOptions } from './options.ts'
import { createPet } from './pets/create.ts'
import { getPet } from './pets/get.ts'
import { hostPets, type Pets } from './pets/host-pets.ts'
import { listPets } from './pets/list.ts'
import type { KeyStore, ManagedKeyStore, MaybePromise } from './ports.ts'
import { untouchedCount } from './quota/counting-rule.ts'
import {
  type Allowance,
  addRateLimitHeaders,
  addStandardRateLimitHeaders,
  allowanceOf,
  windowsOf,
} from './quota/rate-limit.ts'
import { type Readiness, readinessOf } from './readiness.ts'
import { withAdapterFunctions } from './reports/adapter-functions.ts'
import { reportAndRespond } from './reports/error-response.ts'
import { aboutRequest, reportCreation, reportFault, reportResponse } from './reports/observers.ts'
import { callOf, type RequestContext } from './request-context.ts'
import { hostPetSchemas } from './schemas/host-pets.ts'
import { invalidOption } from './schemas/options.ts'
import { isTime, systemClock } from './support/time.ts'

/**
 * A pet store. Its functions need no `this`. It may be the default export of a module on Bun, Deno
 * and Workers.
 */
export interface PetStore {
  /** Responds to a standard request. See {@link PetStoreFetch}. */
  readonly fetch: PetStoreFetch
  /**
   * Responds to a request that consists of plain values. Every adapter calls this function. The
   * promise never rejects.
   */
  readonly handle: (request: ApiRequest) => Promise<ApiResponse>
  /** See {@link CompletePetStore}. A wrapper of a pet store may leave this member out. */
  readonly admit?: Admit | undefined
  /** The path under which clients see the API, without a trailing slash. */
  readonly basePath: string
  /** The key store in use. A wrapper of a pet store may leave this member out. */
  readonly keyStore?: KeyStore | undefined
  /** See {@link CompletePetStore}. A wrapper of a pet store may leave this member out. */
  readonly ready?: (() => Promise<Readiness>) | undefined
}

/** A pet store as `createPetStore` returns it. A wrapper of a pet store needs only {@link PetStore}. */
export interface CompletePetStore<Store extends KeyStore = KeyStore> extends PetStore {
  /** The key store in use. */
  readonly keyStore: Store
  /** Issues, lists, changes and ends keys, and reads their usage, without a request. */
  readonly keys: Keys
  /** Adds, reads, changes and removes animals without a request. */
  readonly pets: Pets
  /**
   * Checks the API key of a request to a route of your own, and counts it like a request of the API.
   * Returns the key and the rate-limit headers, or the response of the API to a request without
   * permission. The body of an admitted request is not read. Rejects only if an argument is invalid.
   * @example
   * ```ts
   * import { createPetStore } from 'petstore-kit'
   *
   * const petStore = createPetStore()
   * async function orders(request: Request): Promise<Response> {
   *   const { key, headers, response } = await petStore.admit(request)
   *   return response ?? Response.json({ account: key.account }, { headers })
   * }
   * console.log((await orders(new Request('http://localhost/orders'))).status) // 401
   * ```
   */
  readonly admit: Admit
  /**
   * Says whether the back end works, for the probe of a load balancer. Calls each part once, for at
   * most 2 seconds, and reuses the result for one second. With `onQuotaFailure: 'allow'`, the quota
   * store is not called. When a part begins to fail, `onError` gets the error. Never rejects.
   * @example
   * ```ts
   * import { createPetStore } from 'petstore-kit'
   *
   * const petStore = createPetStore()
   * const { ok, failing } = await petStore.ready()
   * console.log(ok, failing) // true []
   * ```
   */
  readonly ready: () => Promise<Readiness>
}

/** A route of the host has no operation of the API, even below the base path. */
const HOST_ROUTE: Route = { kind: 'unknown' }

/** Carries out an operation for a request that is authenticated and counted. */
type Handler = (context: RequestContext, parameters: PathParameters) => Promise<OwnResponse>

/**
 * Creates a pet store: the whole service as one function from request to response. By default, all
 * data is in memory.
 * @throws {PetStoreError} `invalid_option`, with the name of the option
 * @example
 * ```ts
 * import { createPetStore } from 'petstore-kit'
 *
 * const petStore = createPetStore()
 * const { token } = await petStore.keys.issue({ plan: 'free' })
 * const response = await petStore.fetch(
 *   new Request('http://localhost/v1/pets', { headers: { authorization: `Bearer ${token}` } }),
 * )
 * console.log(response.status) // 200
 * ```
 */
export function createPetStore(
  options?: PetStoreOptions & { readonly keyStore?: undefined },
): CompletePetStore<ManagedKeyStore>
export function createPetStore<Store extends KeyStore>(
  options: PetStoreOptions & { readonly keyStore: Store },
): CompletePetStore<Store>
export function createPetStore(options: PetStoreOptions): CompletePetStore
export function createPetStore(options: PetStoreOptions = {}): CompletePetStore {
  const resolved = resolveOptions(options)
  const { basePath, clock, timeouts, onQuotaFailure, quotaRules, linkBase, cors, observers, sunset } = resolved
  const inMemory = memory({ clock })
  const { storage = inMemory.storage, keyStore = inMemory.keyStore, quota = inMemory.quota } = resolved.ports
  const backEnd = { storage, keyStore, quota }
  const ports = guardPorts(backEnd, timeouts)
  const { checkCaller, quota: resettableQuota } = callerCheck(ports, resolved)
  const handlers: Readonly<Record<OperationName, Handler>> = {
    listPets: (context) => listPets(ports.storage, context.target, linkBase, callOf(context)),
    createPet: (context) =>
      createPet(ports.storage, context.request, resolved, {
        scope: context.subject,
        linkBase: locationBase(context),
        call: callOf(context),
        onCreated: (pet) => reportCreation(observers, context, pet),
      }),
    getPet: (context, { petId = '' }) => getPet(ports.storage, petId, callOf(context)),
  }
  const monotonic = () => clock.monotonic?.() ?? systemClock.monotonic()
  const ready = readinessOf(backEnd, {
    timeout: timeouts.timeout,
    isQuotaOptional: onQuotaFailure === 'allow',
    now: () => clock.now(),
    monotonic,
    onFailure: (error) => reportFault(error, observers, {}),
  })

  /** Responds to a request. The promise never rejects. */
  async function handle(request: ApiRequest): Promise<ApiResponse> {
    let context: RequestContext | undefined
    try {
      context = createContext(request)
      return finalize(await respond(context), context)
    } catch (error) {
      return recover(error, request, context)
    }
  }

  function createContext(request: ApiRequest, routeOfHost?: Route): RequestContext {
    if (typeof request.header !== 'function') throw invalidOption('request', COMPLETE_REQUEST, request)
    const target = readTarget(request, basePath)
    const route = routeOfHost ?? matchRoute(request.method, target.route)
    return {
      request,
      target,
      route,
      deprecation: route.operation && operations[route.operation].deprecation,
      startedAt: readTime(),
      arrivedAt: observers.onResponse ? monotonic() : 0,
      clientAddress: undefined,
      requestId: requestIdFor(request),
      key: undefined,
      limits: quotaRules.anonymous,
      subject: '',
      count: undefined,
      allowance: undefined,
    }
  }

  /**
   * Reads the clock. Throws for a time before 1970: then `bannedUntil: 0`, which means no ban,
   * would be in the future.
   */
  function readTime(): number {
    const time = clock.now()
    if (!isTime(time)) throw invalidOption('clock', 'milliseconds since the Unix epoch, from 1970 to 9999', time)
    return time
  }

  /**
   * Responds with an error as soon as a step rejects the request; otherwise, carries out its
   * operation.
   */
  async function respond(context: RequestContext): Promise<OwnResponse> {
    const { request, route } = context
    // Read before the first `await`, because a socket loses its address when the client disconnects.
    context.clientAddress = request.clientAddress || undefined
    if (hasUnknownExpectation(request)) return errorResponse('expectation_failed')
    if (cors && isPreflight(request)) return preflightResponse(cors, route)
    const { key, rejection } = await checkCaller(context)
    return rejection ?? dispatch(context, key)
  }

  /** Checks the key of a request to a route of the host, and counts the request. Never rejects. */
  async function admit(request: ApiRequest, { count = true, access }: AdmitOptions): Promise<PlainAdmission> {
    let context: RequestContext | undefined
    try {
      context = createContext(request, HOST_ROUTE)
      context.clientAddress = request.clientAddress || undefined
      const { key, allowance, rejection } = await checkCaller(context, count)
      if (rejection) return { response: finalize(rejection, context) }
      if (!permits(key, access ?? accessOf(request.method)))
        return { response: finalize(errorResponse('read_only_key'), context) }
      const headers: string[] = []
      addClientHeaders(headers, allowance, context.requestId)
      return { key, headers }
    } catch (error) {
      return { response: recover(error, request, context) }
    }
  }

  function dispatch(context: RequestContext, key: ApiKey): MaybePromise<OwnResponse> {
    const { route, target, deprecation, startedAt } = context
    if (route.operation === undefined) return unmatchedResponse(route, target, basePath)
    if (deprecation && isRemoved(deprecation, startedAt, sunset)) return removedResponse(deprecation)
    if (!permits(key, operations[route.operation].access)) return errorResponse('read_only_key')
    return handlers[route.operation](context, route.parameters)
  }

  /**
   * The path or URL that `Location` begins with; `undefined` once no operation reads the added
   * animal.
   */
  function locationBase({ target, startedAt }: RequestContext): string | undefined {
    return isRemoved(operations.getPet.deprecation, startedAt, sunset) ? undefined : linkBase(target)
  }

  /** Adds the headers of every response. */
  function addCommonHeaders(headers: string[], allowance: Allowance, requestId: string | undefined): void {
    addClientHeaders(headers, allowance, requestId)
    headers.push('X-Content-Type-Options', 'nosniff')
  }

  /** Adds the headers that a response from a route of the host has too. */
  function addClientHeaders(headers: string[], allowance: Allowance, requestId: string | undefined): void {
    addRateLimitHeaders(headers, allowance)
    if (resolved.standardRateLimitHeaders) addStandardRateLimitHeaders(headers, allowance)
    if (requestId !== undefined) headers.push(REQUEST_ID_HEADER, requestId)
  }

  /** Adds to `response` the headers of every response, and calls `onResponse`. */
  function finalize(response: OwnResponse, context: RequestContext, isClosed = false): ApiResponse {
    const { request, target, deprecation, startedAt } = context
    const { headers } = response
    addCommonHeaders(
      headers,
      context.allowance ?? allowanceOf(untouchedCount(startedAt), context.limits),
      context.requestId,
    )
    if (deprecation) addDeprecationHeaders(headers, deprecation, linkBase(target))
    if (cors) addCorsHeaders(headers, cors, request, (error) => reportFault(error, observers, aboutRequest(context)))
    if (observers.onResponse)
      reportResponse(observers, context, response, {
        isClosed,
        duration: monotonic() - context.arrivedAt,
        windows: context.count && windowsOf(context.count, context.limits),
      })
    return request.method === 'HEAD' ? headResponse(response) : response
  }

  /**
   * Reports an error, and returns its response. If that fails too, returns a 500 without reading
   * the request.
   */
  function recover(error: unknown, request: ApiRequest, context: RequestContext | undefined): ApiResponse {
    const requestId = context ? context.requestId : requestIdFor(request)
    try {
      const about = context ? aboutRequest(context) : { method: request.method, target: request.target, requestId }
      const response = reportAndRespond(error, observers, request, about)
      if (!context) return uncounted(response, requestId)
      return finalize(response, context, observers.onResponse && isAborted(request))
    } catch {
      return uncounted(errorResponse('internal_error'), requestId)
    }
  }

  function requestIdFor(request: ApiRequest | undefined): string | undefined {
    return resolved.requestId ? requestIdOf(request) : undefined
  }

  /** Responds to a request that is not valid HTTP: nothing is known about it but its address. */
  function rejectRequest(code: ErrorCode, clientAddress: string | undefined): ApiResponse {
    const body = () => Promise.reject(new PetStoreError(code))
    const request: ApiRequest = { method: '-', target: '-', header: () => undefined, body }
    try {
      return finalize(errorResponse(code), { ...createContext(request), clientAddress })
    } catch {
      return uncounted(errorResponse(code), requestIdFor(request))
    }
  }

  /** Adds the headers of every response, for a request without a context. */
  function uncounted(response: OwnResponse, requestId: string | undefined): ApiResponse {
    addCommonHeaders(response.headers, allowanceOf(untouchedCount(timeForHeaders()), quotaRules.anonymous), requestId)
    return response
  }

  /**
   * Returns the time, or the system's time if `clock` is broken: every response has a time in
   * `X-RateLimit-Reset`.
   */
  function timeForHeaders(): number {
    try {
      return readTime()
    } catch {
      return systemClock.now()
    }
  }

  const petStore = {
    fetch: fetchThrough(handle),
    handle,
    admit: admitThrough(admit),
    basePath,
    keyStore,
    keys: hostKeys({ keyStore: ports.keyStore, quota: resettableQuota, rules: quotaRules, clock }),
    pets: hostPets(ports.storage, hostPetSchemas(resolved)),
    ready,
  }
  const documented = withDocumentedOptions(petStore, () => resolved)
  return withAdapterFunctions(documented, {
    admit,
    reportError: (error, report) => reportFault(error, observers, report),
    errorResponse: (code, request) => uncounted(errorResponse(code), requestIdFor(request)),
    rejectRequest,
  })
}

const COMPLETE_REQUEST = 'a request with header and body, such as wrapRequest returns and { ...request } does not'
