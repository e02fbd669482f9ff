import * as z from 'zod/mini'
import { BrokenConnection, PetStoreError } from '../../errors.ts'
import { type ApiRequest, readTarget } from '../../http/request.ts'
import type { ApiResponse } from '../../http/response.ts'
import { matchRoute } from '../../http/routes.ts'
import { type OperationName, operationNames } from '../../operations.ts'
import type { BackEnd, MaybePromise, PetStorage, QuotaCount, QuotaRequest } from '../../ports.ts'
import { untouchedCount } from '../../quota/counting-rule.ts'
import { expecting } from '../../schemas/expected.ts'
import { milliseconds as duration, oneOf, optionsOf, positiveInteger } from '../../schemas/options.ts'
import { parseOption, parseOptions } from '../../schemas/parse-options.ts'
import { sleep } from '../../support/time.ts'
import { type Around, wrapPort } from '../../support/wrap-port.ts'

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
   * Makes the next `times` calls wait by `setTimeout`, which fake timers can advance.
   * @default every call until `recover`
   */
  delay(milliseconds: number, times?: number): void
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
 * Breaks connections instead of responses, after the store has carried out the requests: an animal
 * is added, and its idempotency key is used. `fetch` rejects, and a server on Node closes the
 * socket. Other servers respond with 500.
 */
export interface ConnectionFaults {
  /**
   * Breaks every connection until `recover`. Chromium and Go repeat a request once by themselves,
   * so they may hide one break.
   */
  breakConnections(): void
  /** Breaks the connections of the next `times` responses. */
  breakTimes(times: number): void
  /** Stops breaking connections. */
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
   * Returns the switches of one operation: `faults.for({ operation: 'createPet' }).storage.fail()`.
   * There are none for key store and quota store, because their calls do not depend on the
   * operation.
   * @throws {PetStoreError} `invalid_option` for an unknown operation
   */
  for(scope: { readonly operation: OperationName }): OperationFaults
  /** Ends all faults. */
  recover(): void
}

/** The faults of one operation. `recover` does not end the faults of other operations. */
export type OperationFaults = Pick<PortFaults, 'storage' | 'connection'>

/**
 * One fault. The control API of `petstore serve` has the same members, with `status` instead of
 * `error`.
 */
export interface Fault {
  readonly part: keyof typeof PART_NAMES
  readonly action: 'fail' | 'delay' | 'break' | 'refuse'
  readonly operation?: OperationName | undefined
  /** How many more calls have this fault. */
  calls: number
  /** The error of a call that fails. @default `service_unavailable` */
  readonly error?: unknown
  readonly milliseconds?: number
}

const PART_NAMES = { storage: 'storage', keys: 'key store', quota: 'quota store', connection: 'connection' }

/** How many calls fail. `Infinity`, which `z.int` rejects, means: until the fault is removed. */
const times = z.union(
  [positiveInteger, z.custom<number>((value) => value === Number.POSITIVE_INFINITY)],
  expecting('a whole number of at least 1'),
)
const faultScope = optionsOf<Parameters<PortFaults['for']>[0]>({ operation: oneOf(...operationNames) })

/**
 * The faults of a store from one reset to the next. A request that arrived before a reset must not
 * use up a later fault.
 */
export interface FaultList {
  /** The newest fault is the first. */
  faults: readonly Fault[]
}

/**
 * Creates the public fault switches, and the wrappers that make a back end and a handler obey them.
 */
export function portFaults() {
  let current: FaultList = { faults: [] }

  /** Adds a fault. Removes an older fault of the same part, action and operation. */
  function addFault(fault: Fault): void {
    const { calls, part, action, operation } = fault
    parseOption('times', times, calls)
    const isOther = (old: Fault) => old.part !== part || old.action !== action || old.operation !== operation
    current.faults = [fault, ...current.faults.filter(isOther)]
  }

  /**
   * Counts one call: returns the newest fault that affects it, and removes this fault after its
   * last call.
   */
  function take(
    list: FaultList,
    part: Fault['part'],
    action: Fault['action'],
    operation?: OperationName,
  ): Fault | undefined {
    const fault = list.faults.find(
      (fault) => fault.part === part && fault.action === action && (fault.operation ?? operation) === operation,
    )
    if (fault) fault.calls -= 1
    if (fault?.calls === 0) list.faults = list.faults.filter((other) => other !== fault)
    return fault
  }

  function affect(list: FaultList, part: Fault['part'], operation?: OperationName) {
    return <T>(call: () => MaybePromise<T>): MaybePromise<T> => {
      const failure = take(list, part, 'fail', operation)
      const wait = take(list, part, 'delay', operation)?.milliseconds
      const settle = () => {
        if (!failure) return call()
        throw failure.error ?? new PetStoreError('service_unavailable', `The test makes the ${PART_NAMES[part]} fail.`)
      }
      return wait ? sleep(wait).then(settle) : settle()
    }
  }

  function switchOf(part: Fault['part'], operation?: OperationName): FaultSwitch {
    const failTimes = (calls: number, error?: unknown) => addFault({ part, action: 'fail', operation, calls, error })
    return {
      fail: (error) => failTimes(Number.POSITIVE_INFINITY, error),
      failTimes,
      delay(milliseconds, calls = Number.POSITIVE_INFINITY) {
        parseOption('milliseconds', duration, milliseconds)
        addFault({ part, action: 'delay', operation, calls, milliseconds })
      },
      recover() {
        const isOther = (fault: Fault) => fault.part !== part || (operation && fault.operation !== operation)
        current.faults = current.faults.filter(isOther)
      },
    }
  }

  function faultsOf(operation?: OperationName): OperationFaults {
    const breakTimes = (calls: number) => addFault({ part: 'connection', action: 'break', operation, calls })
    const { recover } = switchOf('connection', operation)
    return {
      storage: switchOf('storage', operation),
      connection: { breakConnections: () => breakTimes(Number.POSITIVE_INFINITY), breakTimes, recover },
    }
  }

  const refuseTimes = (calls: number) => addFault({ part: 'quota', action: 'refuse', calls })

  const publicFaults: PortFaults = {
    ...faultsOf(),
    keyStore: switchOf('keys'),
    quota: {
      ...switchOf('quota'),
      refuse: () => refuseTimes(Number.POSITIVE_INFINITY),
      refuseTimes,
    },
    for(scope) {
      const { operation } = parseOptions(faultScope, scope)
      // Without an operation, the faults would silently affect all operations.
      return faultsOf(parseOption('operation', oneOf(...operationNames), operation))
    },
    recover() {
      current.faults = []
    },
  }

  function spendOrRefuse(list: FaultList) {
    const failOrWait = affect(list, 'quota')
    return (spend: () => MaybePromise<QuotaCount>, { limits, now }: QuotaRequest): MaybePromise<QuotaCount> => {
      const refused = { ...untouchedCount(now), granted: false, usedInMinute: limits.perMinute }
      const isRefused = take(list, 'quota', 'refuse') !== undefined
      return failOrWait(isRefused ? () => refused : spend)
    }
  }

  return {
    faults: publicFaults,
    addFault,
    faultsInForce: () => current.faults,
    /** Ends all faults at a reset. Returns the list of the faults that are added from now on. */
    startList(): FaultList {
      current = { faults: [] }
      return current
    },
    /** Returns the response, or throws {@link BrokenConnection} instead of it. */
    breakConnection(list: FaultList, request: ApiRequest, response: ApiResponse, basePath: string): ApiResponse {
      const { operation } = matchRoute(request.method, readTarget(request, basePath).route)
      if (!take(list, 'connection', 'break', operation)) return response
      throw new BrokenConnection('network_error', 'The test breaks the connection after the request.')
    },
    withFaults: (list: FaultList, { storage, keyStore, quota }: BackEnd): BackEnd => ({
      storage: wrapPort(storage, {
        list: affect(list, 'storage', 'listPets'),
        create: affect(list, 'storage', 'createPet'),
        get: affect(list, 'storage', 'getPet'),
      } satisfies Pick<Around<PetStorage>, 'list' | 'create' | 'get'>),
      keyStore: wrapPort(keyStore, { find: affect(list, 'keys') }),
      quota: wrapPort(quota, { spend: spendOrRefuse(list) }),
    }),
  }
}
