import { BrokenConnection, PetStoreError } from '../errors.ts'
import { readTarget } from '../http/request.ts'
import { matchRoute, type OperationName, operationNames } from '../http/routes.ts'
import type { PetStore } from '../pet-store.ts'
import type { BackEnd, MaybePromise } from '../ports.ts'
import { checkOptions, invalidOption, isPositiveInteger, millisecondsRule, oneOf } from '../support/option-rules.ts'
import { sleep } from '../support/time.ts'
import { wrapPort } from '../support/wrap-port.ts'

/** Makes a port of the test store fail or wait. */
export interface FaultSwitch {
  /**
   * Makes every call fail until `recover`.
   *
   * @param error - what the port throws. Default: `service_unavailable`, for which clients get 503. A plain `Error` causes a 500.
   */
  fail(error?: unknown): void
  /** Makes the next `times` calls fail. Later calls work again. */
  failTimes(times: number, error?: unknown): void
  /**
   * Makes calls wait for a number of milliseconds. The wait uses `setTimeout`, so fake timers can advance it.
   *
   * @param times - the number of calls that wait. Default: every call until `recover`
   */
  delay(milliseconds: number, times?: number): void
  /** Ends the failures and the delay. */
  recover(): void
}

/**
 * Breaks connections of clients in place of responses. The store has carried out these requests: an animal is added, and its
 * idempotency key is used. `fetch` rejects, and a server on Node closes the socket. Other servers respond with 500.
 */
export interface ConnectionFaults {
  /**
   * Breaks every connection until `recover`. Use it if a client repeats a request by itself, as Chromium and Go do once after a
   * break.
   */
  breakConnections(): void
  /** Breaks the connection in place of each of the next `times` responses. */
  breakTimes(times: number): void
  /** Breaks no more connections. */
  recover(): void
}

/** The faults of a test store. They affect requests, but no calls of `storage`, `keyStore` and `quota` by the test itself. */
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
   * Returns switches for the requests of one operation: `faults.for({ operation: 'createPet' }).storage.fail()`. Key store and
   * quota store have none, because they do not know the operation.
   *
   * @throws {PetStoreError} `invalid_option` for an unknown operation
   */
  for(scope: { readonly operation: OperationName }): OperationFaults
  /** Ends all faults. */
  recover(): void
}

/** The faults of one operation. `recover` ends only the faults of this operation. */
export type OperationFaults = Pick<PortFaults, 'storage' | 'connection'>

/** A fault in force. */
export interface Fault {
  readonly part: 'storage' | 'keyStore' | 'quota' | 'connection'
  readonly action: 'fail' | 'delay'
  /** @default all operations */
  readonly operation: OperationName | undefined
  /** How many more calls have this fault. */
  calls: number
  readonly error?: unknown
  readonly milliseconds?: number
}

const operationRule = oneOf(...operationNames)

function checkTimes(times: number): void {
  if (!isPositiveInteger(times)) throw invalidOption('times', 'a whole number of at least 1', times)
}

/** Creates the fault switches, and functions that return a back end and a handler with these faults. */
export function portFaults() {
  /** The newest first. */
  let faults: readonly Fault[] = []

  /** Adds a fault. It replaces a fault that differs only in its calls, its error or its length. */
  function add(fault: Fault): void {
    const names = ['part', 'action', 'operation'] as const
    faults = [fault, ...faults.filter((old) => names.some((name) => old[name] !== fault[name]))]
  }

  /** Returns the newest fault that affects a call, and counts the call. */
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
      const wait = take(part, 'delay', operation)?.milliseconds ?? 0
      const settle = () => {
        if (failure) throw failure.error
        return call()
      }
      return wait > 0 ? sleep(wait).then(settle) : settle()
    }
  }

  /** Returns the switch of a part, which says `name` in the default error. */
  function switchOf(part: Fault['part'], name: string, operation?: OperationName): FaultSwitch {
    const failTimes = (calls: number, error?: unknown) =>
      add({
        part,
        action: 'fail',
        operation,
        calls,
        error: error ?? new PetStoreError('service_unavailable', `The test makes the ${name} fail.`),
      })
    return {
      fail: (error) => failTimes(Number.POSITIVE_INFINITY, error),
      failTimes(times, error) {
        checkTimes(times)
        failTimes(times, error)
      },
      delay(milliseconds, times = Number.POSITIVE_INFINITY) {
        if (!millisecondsRule.check(milliseconds))
          throw invalidOption('milliseconds', millisecondsRule.expected, milliseconds)
        if (times !== Number.POSITIVE_INFINITY) checkTimes(times)
        add({ part, action: 'delay', operation, calls: times, milliseconds })
      },
      recover() {
        faults = faults.filter((fault) => fault.part !== part || (operation && fault.operation !== operation))
      },
    }
  }

  const broken = new BrokenConnection('network_error', 'The test breaks the connection after the request.')
  function operationFaults(operation?: OperationName): OperationFaults {
    const { fail, failTimes, recover } = switchOf('connection', 'connection', operation)
    return {
      storage: switchOf('storage', 'storage', operation),
      connection: { breakConnections: () => fail(broken), breakTimes: (times) => failTimes(times, broken), recover },
    }
  }

  const publicFaults: PortFaults = {
    ...operationFaults(),
    keyStore: switchOf('keyStore', 'key store'),
    quota: switchOf('quota', 'quota store'),
    for(scope) {
      checkOptions({ operation: operationRule }, scope)
      return operationFaults(scope.operation)
    },
    recover() {
      faults = []
    },
  }
  return {
    faults: publicFaults,
    /** Returns the faults that still affect calls, the newest first. */
    faultsInForce: () => faults,
    breaking:
      (handle: PetStore['handle'], basePath: string): PetStore['handle'] =>
      async (request) => {
        const response = await handle(request)
        const { kind } = matchRoute(request.method, readTarget(request, basePath).route)
        return affect('connection', kind as OperationName)(() => response)
      },
    inFrontOf: ({ storage, keyStore, quota }: BackEnd): BackEnd => ({
      storage: wrapPort(storage, {
        list: affect('storage', 'listPets'),
        create: affect('storage', 'createPet'),
        createOnce: affect('storage', 'createPet'),
        get: affect('storage', 'getPet'),
      }),
      keyStore: wrapPort(keyStore, { find: affect('keyStore') }),
      quota: wrapPort(quota, { spend: affect('quota') }),
    }),
  }
}
