import type { ApiKey, BackEnd, CompletePetStore, PetStore, Pets, Usage } from '../../../src/index.ts'
import type { Fault } from '../../../src/testing/store/fault-list.ts'
import { portFaults } from '../../../src/testing/store/faults.ts'
import type { FaultControl } from './faults.ts'

/** A pet store, and what its page shows about keys. */
export interface Service {
  readonly petStore: Pick<CompletePetStore, 'ready'> & PetStore
  /** The animals. Faults do not affect them. */
  readonly pets: Pets
  /** Returns the usage of a token's key; `undefined` if the token is not valid. */
  readonly usageOf: (token: string) => Promise<Usage | undefined>
  /** Returns the key of a token, if the last request with the token was valid. */
  readonly keyOf: (token: string) => ApiKey | undefined
  /**
   * Returns how often the store was reset. A store of `petstore serve` without a control port is
   * never reset.
   */
  readonly resets?: () => number
  /** Its faults; `undefined` if it cannot have any. */
  readonly faults?: FaultControl
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
