import type { BackEnd } from '../../../src/index.ts'
import { type Fault, type FaultDelay, randomSeed } from '../../../src/testing/store/fault-list.ts'
import { portFaults } from '../../../src/testing/store/faults.ts'
import { isPersistent } from '../engines/back-end.ts'
import type { ServeFlags } from '../terminal/flags.ts'
import type { Service } from '../test-double/test-double.ts'

interface FaultFlags {
  readonly delay?: FaultDelay | undefined
  readonly fail?: number | undefined
  readonly faultSeed?: number | undefined
}

/** Returns whether a service can have faults. The page of a file or a database must not add any. */
export function hasFaults(flags: ServeFlags): boolean {
  return !isPersistent(flags) || flags.delay !== undefined || flags.fail !== undefined
}

/** Returns the faults of `--delay` and `--fail`. */
export function faultsOfFlags({ delay, fail, faultSeed }: FaultFlags): readonly Fault[] {
  const random = delay === undefined && fail === undefined ? undefined : (faultSeed ?? randomSeed())
  const always = { calls: Number.POSITIVE_INFINITY, seed: random }
  return [
    ...(delay === undefined ? [] : [{ ...always, part: 'connection', action: 'delay', milliseconds: delay } as const]),
    ...(fail === undefined ? [] : [{ ...always, part: 'storage', action: 'fail', chance: fail } as const]),
  ]
}

/**
 * Creates a service with faults. They affect requests to the API only: the page and `/ready` must
 * neither fail nor use up a fault.
 */
export function withoutFaultsOfPage(createService: (backEnd: BackEnd) => Service, backEnd: BackEnd, faulty: BackEnd) {
  const plain = createService(backEnd)
  const { petStore, keyOf } = createService(faulty)
  return { ...plain, petStore: { ...petStore, ready: plain.petStore.ready }, keyOf }
}

/** Creates a service with the faults `initial`, to which the page may add others. */
export function createFaultyService(
  createService: (backEnd: BackEnd) => Service,
  backEnd: BackEnd,
  initial: readonly Fault[],
): Service {
  const { startList, withFaults, affectConnection, control } = portFaults(initial)
  const list = startList()
  const { petStore, ...others } = withoutFaultsOfPage(createService, backEnd, withFaults(list, backEnd))
  const handle: typeof petStore.handle = async (request) =>
    affectConnection(list, request, await petStore.handle(request), petStore.basePath)
  return { ...others, faults: control, petStore: { ...petStore, handle } }
}

/** Returns a fault in words, such as `connection: delay 100 to 800 ms, seed 7`. */
export function faultText({ part, action, milliseconds, chance, operation, key, calls, seed }: Fault): string {
  const wait = milliseconds === undefined ? '' : ` ${[milliseconds].flat().join(' to ')} ms`
  return [
    `${part}: ${action}${wait}`,
    ...(chance === undefined ? [] : [`chance ${chance}`]),
    ...(operation === undefined ? [] : [`only ${operation}`]),
    ...(key === undefined ? [] : [`only the key ${key}`]),
    ...(Number.isFinite(calls) ? [`${calls} more`] : []),
    ...(seed === undefined ? [] : [`seed ${seed}`]),
  ].join(', ')
}
