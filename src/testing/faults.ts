import { BrokenConnection, PetStoreError } from '../errors.ts'
import type { PetStore } from '../pet-store.ts'
import type { BackEnd, MaybePromise } from '../ports.ts'
import { invalidOption, millisecondsRule } from '../support/option-rules.ts'
import { isCount } from '../support/predicates.ts'
import { sleep } from '../support/sleep.ts'
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
}

/** A fault switch, and a function that makes a call of the port and applies the faults to it. */
interface SwitchedPort extends FaultSwitch {
  run<T>(call: () => MaybePromise<T>): MaybePromise<T>
}

function switchedPort(name: string): SwitchedPort {
  let failuresLeft = 0
  let failure: unknown
  let wait = 0
  let waitsLeft = 0

  const failTimes = (times: number, error?: unknown) => {
    failuresLeft = times
    failure = error ?? new PetStoreError('service_unavailable', `The test makes the ${name} fail.`)
  }
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
      wait = milliseconds
      waitsLeft = times
    },
    recover() {
      failuresLeft = 0
      waitsLeft = 0
    },
    run(call) {
      const isFailing = failuresLeft > 0
      if (isFailing) failuresLeft--
      const isWaiting = waitsLeft > 0 && wait > 0
      if (isWaiting) waitsLeft--
      const error = failure
      const settle = () => {
        if (isFailing) throw error
        return call()
      }
      return isWaiting ? sleep(wait).then(settle) : settle()
    },
  }
}

function checkTimes(times: number): void {
  if (!isCount(times)) throw invalidOption('times', 'a whole number of at least 1', times)
}

/** Creates the fault switches, and functions that return a back end and a handler with these faults. */
export function portFaults(): {
  readonly faults: PortFaults
  inFrontOf(backEnd: BackEnd): BackEnd
  breaking(handle: PetStore['handle']): PetStore['handle']
} {
  const ports = {
    storage: switchedPort('storage'),
    keyStore: switchedPort('key store'),
    quota: switchedPort('quota store'),
  }
  const { recover, fail, failTimes, run } = switchedPort('connection')
  const broken = new BrokenConnection('network_error', 'The test breaks the connection after the request.')
  const connection = {
    breakConnections: () => fail(broken),
    breakTimes: (times: number) => failTimes(times, broken),
    recover,
  }
  return {
    faults: { ...ports, connection },
    breaking: (handle) => async (request) => {
      const response = await handle(request)
      return run(() => response)
    },
    inFrontOf: ({ storage, keyStore, quota }) => {
      const { run } = ports.storage
      return {
        storage: wrapPort(storage, { list: run, create: run, createOnce: run, get: run }),
        keyStore: wrapPort(keyStore, { find: ports.keyStore.run }),
        quota: wrapPort(quota, { spend: ports.quota.run }),
      }
    },
  }
}
