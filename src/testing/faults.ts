import * as z from 'zod/mini'
import { BrokenConnection, PetStoreError } from '../errors.ts'
import { type ApiRequest, readTarget } from '../http/request.ts'
import type { ApiResponse } from '../http/response.ts'
import { matchRoute } from '../http/routes.ts'
import { type OperationName, operationNames } from '../operations.ts'
import type { BackEnd, MaybePromise } from '../ports.ts'
import { expecting } from '../schemas/expected.ts'
import {
  milliseconds as duration,
  oneOf,
  optionsOf,
  parseOption,
  parseOptions,
  positiveInteger,
} from '../schemas/options.ts'
import { sleep } from '../support/time.ts'
import { wrapPort } from '../support/wrap-port.ts'

/** Makes a port of the test store fail or wait. */
export interface FaultSwitch {
  /** Makes every call throw `error` until `recover`. A plain `Error` causes a 500. @default `service_unavailable`, which causes a 503 */
  fail(error?: unknown): void
  /** Makes only the next `times` calls fail. */
  failTimes(times: number, error?: unknown): void
  /** Makes the next `times` calls wait by `setTimeout`, which fake timers can advance. @default every call until `recover` */
  delay(milliseconds: number, times?: number): void
  /** Ends the failures and the delay. */
  recover(): void
}

/**
 * Breaks connections in place of responses, after the store has carried out the requests: an animal is added, and its idempotency
 * key is used. `fetch` rejects, and a server on Node closes the socket. Other servers respond with 500.
 */
export interface ConnectionFaults {
  /** Breaks every connection until `recover`. Chromium and Go repeat a request once by themselves, so they may hide one break. */
  breakConnections(): void
  /** Breaks the connections of the next `times` responses. */
  breakTimes(times: number): void
  /** Stops breaking connections. */
  recover(): void
}

/** The faults of a test store. They affect requests, but not the calls of `storage`, `keyStore` and `quota` by the test itself. */
export interface PortFaults {
  /** Faults of the calls that list, add and read animals. */
  readonly storage: FaultSwitch
  /** Faults of the call that finds the key of a token. */
  readonly keyStore: FaultSwitch
  /** Faults of the call that counts a request. */
  readonly quota: FaultSwitch
  /** Faults of the connections over which responses are sent. */
  readonly connection: ConnectionFaults
  /**
   * Returns the switches of one operation: `faults.for({ operation: 'createPet' }).storage.fail()`. There are none for key store
   * and quota store, because their calls do not depend on the operation.
   * @throws {PetStoreError} `invalid_option` for an unknown operation
   */
  for(scope: { readonly operation: OperationName }): OperationFaults
  /** Ends all faults. */
  recover(): void
}

/** The faults of one operation. `recover` does not end the faults of other operations. */
export type OperationFaults = Pick<PortFaults, 'storage' | 'connection'>

/** One fault. The control API of `petstore serve` has the same members, with `status` in place of `error`. */
export interface Fault {
  readonly part: keyof typeof PART_NAMES
  readonly action: 'fail' | 'delay' | 'break'
  readonly operation?: OperationName | undefined
  /** How many more calls have this fault. */
  calls: number
  /** The error of a call that fails. @default `service_unavailable` */
  readonly error?: unknown
  readonly milliseconds?: number
}

const PART_NAMES = { storage: 'storage', keys: 'key store', quota: 'quota store', connection: 'connection' }

/** A number of calls; `Infinity` if the fault lasts until it is removed. `z.int` rejects `Infinity`. */
const times = z.union(
  [positiveInteger, z.custom<number>((value) => value === Number.POSITIVE_INFINITY)],
  expecting('a whole number of at least 1'),
)
const faultScope = optionsOf<Parameters<PortFaults['for']>[0]>({ operation: oneOf(...operationNames) })

/** Creates the public fault switches, and the wrappers that make a back end and a handler obey them. */
export function portFaults() {
  let faults: readonly Fault[] = []

  /** Adds a fault. Removes an older fault of the same part, action and operation. */
  function addFault(fault: Fault): void {
    const { calls, part, action, operation } = fault
    parseOption('times', times, calls)
    const isOther = (old: Fault) => old.part !== part || old.action !== action || old.operation !== operation
    faults = [fault, ...faults.filter(isOther)]
  }

  /** Counts one call: returns the newest fault that affects it, and removes this fault after its last call. */
  function take(part: Fault['part'], action: Fault['action'], operation?: OperationName): Fault | undefined {
    const fault = faults.find(
      (fault) => fault.part === part && fault.action === action && (fault.operation ?? operation) === operation,
    )
    if (fault && --fault.calls === 0) faults = faults.filter((other) => other !== fault)
    return fault
  }

  function affect(part: Fault['part'], operation?: OperationName) {
    return <T>(call: () => MaybePromise<T>): MaybePromise<T> => {
      const failure = take(part, 'fail', operation)
      const wait = take(part, 'delay', operation)?.milliseconds
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
        faults = faults.filter((fault) => fault.part !== part || (operation && fault.operation !== operation))
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

  const publicFaults: PortFaults = {
    ...faultsOf(),
    keyStore: switchOf('keys'),
    quota: switchOf('quota'),
    for(scope) {
      return faultsOf(parseOptions(faultScope, scope).operation)
    },
    recover() {
      faults = []
    },
  }
  return {
    faults: publicFaults,
    addFault,
    faultsInForce: () => faults,
    /** Returns the response, or throws {@link BrokenConnection} in place of it. */
    breakConnection(request: ApiRequest, response: ApiResponse, basePath: string): ApiResponse {
      const { operation } = matchRoute(request.method, readTarget(request, basePath).route)
      if (!take('connection', 'break', operation)) return response
      throw new BrokenConnection('network_error', 'The test breaks the connection after the request.')
    },
    withFaults: ({ storage, keyStore, quota }: BackEnd): BackEnd => ({
      storage: wrapPort(storage, {
        list: affect('storage', 'listPets'),
        create: affect('storage', 'createPet'),
        createOnce: affect('storage', 'createPet'),
        get: affect('storage', 'getPet'),
      }),
      keyStore: wrapPort(keyStore, { find: affect('keys') }),
      quota: wrapPort(quota, { spend: affect('quota') }),
    }),
  }
}
