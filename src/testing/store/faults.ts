import { BrokenConnection, PetStoreError } from '../../errors.ts'
import { type ApiRequest, readTarget } from '../../http/request.ts'
import type { ApiResponse } from '../../http/response.ts'
import { matchRoute } from '../../http/routes.ts'
import { tokenOf } from '../../keys/authenticate.ts'
import type { OperationName } from '../../operations.ts'
import type { BackEnd, CallContext, MaybePromise, PetStorage, QuotaCount, QuotaRequest } from '../../ports.ts'
import { untouchedCount } from '../../quota/counting-rule.ts'
import { invalidOption } from '../../schemas/options.ts'
import { parseOption, parseOptions } from '../../schemas/parse-options.ts'
import { sleep } from '../../support/time.ts'
import { type Around, wrapPort } from '../../support/wrap-port.ts'
import {
  createFaultList,
  type Fault,
  type FaultDelay,
  type FaultList,
  type FaultScope,
  type FaultyRequest,
  faultDelay,
  faultScope,
} from './fault-list.ts'

/** Makes a part of the test store fail or wait. */
export interface FaultSwitch {
  /**
   * Makes every call throw `error` until `recover`. A plain `Error` causes a 500.
   * @default `service_unavailable`, which causes a 503
   */
  fail(error?: unknown): void
  /** Makes only the next `times` calls fail. */
  failTimes(times: number, error?: unknown): void
  /**
   * Makes the next `times` calls wait by `setTimeout`, which fake timers can advance. `[100, 800]`
   * stands for a random wait; 0 ends the waits. A call that would wait longer than the option `timeout`
   * of the store is not made.
   * @default every call until `recover`
   */
  delay(milliseconds: FaultDelay, times?: number): void
  /** Ends the failures and the delay. */
  recover(): void
}

/** Makes the quota store fail or wait, or refuse requests of clients that have requests left. */
export interface QuotaFaults extends FaultSwitch {
  /**
   * Responds to every request with 429 `rate_limit_exceeded` until `recover`, as if the requests of
   * this minute were used up. These requests are not counted, and cause no ban. With `ban: false`,
   * and without a valid key, the store remembers a refusal until the minute ends, as in production.
   */
  refuse(): void
  /** Responds only to the next `times` requests with 429. */
  refuseTimes(times: number): void
}

/**
 * Delays responses, or breaks connections instead of them, after the store has carried out the
 * requests: an animal is added, and its idempotency key is used.
 */
export interface ConnectionFaults {
  /**
   * Delays the next `times` responses by `setTimeout`. `[100, 800]` stands for a random delay. The
   * option `timeout` of the store does not limit a delay. It ends when the client disconnects.
   * @default every response until `recover`
   */
  delay(milliseconds: FaultDelay, times?: number): void
  /**
   * Breaks every connection until `recover`: `fetch` rejects, and a server on Node closes the socket.
   * Other servers respond with 500. Chromium and Go repeat a request once by themselves, so they
   * may hide one break.
   */
  breakConnections(): void
  /** Breaks the connections of the next `times` responses. */
  breakTimes(times: number): void
  /** Ends the delay, and stops breaking connections. */
  recover(): void
}

/**
 * The faults of a test store. They affect requests, but not the calls of `pets`, `keyStore` and
 * `quota` by the test itself.
 */
export interface PortFaults {
  /** Faults of the calls that list, add and read animals. */
  readonly storage: FaultSwitch
  /** Faults of the call that finds the key of a token. */
  readonly keyStore: FaultSwitch
  /** Faults of the call that counts a request. */
  readonly quota: QuotaFaults
  /** Faults of the connections over which responses are sent. */
  readonly connection: ConnectionFaults
  /**
   * Returns switches that affect only some requests: those for one operation, those with one key, or
   * some at random. With an operation, there are none for key store and quota store.
   * @throws {PetStoreError} `invalid_option`
   * @example
   * ```ts
   * import { createTestPetStore } from 'petstore-kit/testing'
   *
   * const { faults } = await createTestPetStore()
   * faults.for({ operation: 'createPet' }).storage.failTimes(2)
   * faults.for({ chance: 0.1, seed: 7 }).storage.fail()
   * faults.for({ seed: 7 }).connection.delay([100, 800])
   * ```
   */
  for(scope: FaultScope & { readonly operation: OperationName }): OperationFaults
  for(scope: FaultScope & { readonly operation?: undefined }): PartFaults
  for(scope: FaultScope): OperationFaults
  /** Ends all faults. */
  recover(): void
}

/**
 * The faults of some requests. `recover` does not end the faults of other operations and of other
 * keys.
 */
export type PartFaults = Pick<PortFaults, 'storage' | 'keyStore' | 'quota' | 'connection'>

/** The faults of one operation. */
export type OperationFaults = Pick<PortFaults, 'storage' | 'connection'>

const PART_NAMES = { storage: 'storage', keys: 'key store', quota: 'quota store', connection: 'connection' }

/**
 * Creates the public fault switches, and the wrappers that make a back end and a handler obey them.
 * @param initial - the faults of each new list
 */
export function portFaults(initial: readonly Fault[] = []) {
  let current = createFaultList()

  function switchOf(part: Fault['part'], scope: FaultScope): FaultSwitch {
    const failTimes = (calls: number, error?: unknown) => current.add({ ...scope, part, action: 'fail', calls, error })
    return {
      fail: (error) => failTimes(Number.POSITIVE_INFINITY, error),
      failTimes,
      delay(given, calls = Number.POSITIVE_INFINITY) {
        const milliseconds = parseOption('milliseconds', faultDelay, given)
        current.add({ ...scope, part, action: 'delay', calls, milliseconds })
      },
      recover: () => current.remove(part, scope),
    }
  }

  function faultsOf(scope: FaultScope): PartFaults {
    const breakTimes = (calls: number) => current.add({ ...scope, part: 'connection', action: 'break', calls })
    const refuseTimes = (calls: number) => current.add({ ...scope, part: 'quota', action: 'refuse', calls })
    const { delay, recover } = switchOf('connection', scope)
    return {
      storage: switchOf('storage', scope),
      keyStore: switchOf('keys', scope),
      quota: { ...switchOf('quota', scope), refuse: () => refuseTimes(Number.POSITIVE_INFINITY), refuseTimes },
      connection: { delay, breakConnections: () => breakTimes(Number.POSITIVE_INFINITY), breakTimes, recover },
    }
  }

  function faultsFor(given: FaultScope): PartFaults {
    const scope = parseOptions(faultScope, given)
    // Otherwise, a mistyped scope in plain JavaScript would silently affect all requests.
    if (Object.values(scope).every((value) => value === undefined))
      throw invalidOption('scope', 'a value for at least one of operation, key, chance, seed', given)
    const { storage, connection, ...others } = faultsOf(scope)
    // These calls do not depend on the operation.
    return scope.operation === undefined ? { storage, connection, ...others } : ({ storage, connection } as PartFaults)
  }

  const publicFaults: PortFaults = { ...faultsOf({}), for: faultsFor, recover: () => current.clear() }

  /** Makes a call wait or fail, if a fault affects it. */
  function affect<T>(
    list: FaultList,
    part: Fault['part'],
    request: FaultyRequest,
    context: CallContext | undefined,
    call: () => MaybePromise<T>,
  ): MaybePromise<T> {
    const failure = list.take(part, 'fail', request)
    const wait = list.takeDelay(part, request)
    const settle = () => {
      if (!failure) return call()
      throw failure.error ?? new PetStoreError('service_unavailable', `The test makes the ${PART_NAMES[part]} fail.`)
    }
    return wait > 0 ? sleep(wait, context?.signal).then(settle) : settle()
  }

  return {
    faults: publicFaults,
    /** The same faults as a list. */
    control: {
      add: (fault: Fault) => current.add(fault),
      inForce: () => current.inForce(),
      clear: () => current.clear(),
    },
    /** Starts a new list at a reset. It gets the faults that are added from now on. */
    startList(): FaultList {
      current = createFaultList(initial)
      return current
    },
    /** Returns the response, perhaps late, or throws {@link BrokenConnection} instead of it. */
    async affectConnection(
      list: FaultList,
      request: ApiRequest,
      response: ApiResponse,
      basePath: string,
    ): Promise<ApiResponse> {
      const { operation } = matchRoute(request.method, readTarget(request, basePath).route)
      const keyId = list.keyIdOf(tokenOf(request.header('authorization') ?? '') ?? '')
      const about = { operation, hasKey: (id: string) => id === keyId }
      const wait = list.takeDelay('connection', about)
      const isBroken = list.take('connection', 'break', about) !== undefined
      // The wait rejects when the client disconnects: then nobody waits any longer.
      if (wait > 0) await sleep(wait, request.signal).catch(() => {})
      if (!isBroken) return response
      throw new BrokenConnection('network_error', 'The test breaks the connection after the request.')
    },
    withFaults(list: FaultList, { storage, keyStore, quota }: BackEnd): BackEnd {
      const affectStorage = <T>(
        operation: OperationName,
        context: CallContext | undefined,
        call: () => MaybePromise<T>,
      ) => affect(list, 'storage', { operation, hasKey: (id) => id === context?.key?.id }, context, call)
      return {
        storage: wrapPort(storage, {
          list: (call, _query, context) => affectStorage('listPets', context, call),
          create: (call, _pet, _options, context) => affectStorage('createPet', context, call),
          get: (call, _id, context) => affectStorage('getPet', context, call),
        } satisfies Pick<Around<PetStorage>, 'list' | 'create' | 'get'>),
        keyStore: wrapPort(keyStore, {
          async find(call, token, context) {
            const key = await call()
            if (key) list.remember(token, key)
            return affect(list, 'keys', { hasKey: (id) => id === key?.id }, context, () => key)
          },
        }),
        quota: wrapPort(quota, { spend: (call, request, context) => spendOrRefuse(list, request, context, call) }),
      }
    },
  }

  function spendOrRefuse(
    list: FaultList,
    { subject, limits, now }: QuotaRequest,
    context: CallContext | undefined,
    spend: () => MaybePromise<QuotaCount>,
  ): MaybePromise<QuotaCount> {
    const request = { hasKey: (id: string) => list.subjectOf(id) === subject }
    const refused = { ...untouchedCount(now), granted: false, usedInMinute: limits.perMinute }
    const isRefused = list.take('quota', 'refuse', request) !== undefined
    return affect(list, 'quota', request, context, isRefused ? () => refused : spend)
  }
}
