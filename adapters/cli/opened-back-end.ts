import type { ManagedKeyStore, PetStorage, QuotaStore } from '../../src/index.ts'

/** A back end that is ready. */
export interface OpenedBackEnd {
  readonly storage: PetStorage
  readonly keyStore: ManagedKeyStore
  readonly quota: QuotaStore
  /** Names the place, for whoever reads what the command prints. It holds no password. */
  readonly place: string
  close(): Promise<void>
}
