// These types are public in `petstore-kit`, too. Programs that emit declarations need them from this entry.
export type { PetStoreClient } from '../client/index.ts'
export type { Keys } from '../keys/host-keys.ts'
export type { PetStore } from '../pet-store.ts'
export type { Pets } from '../pets/host-pets.ts'
export type { Clock, ManagedKeyStore, QuotaStore } from '../ports.ts'
export { type ManualClock, manualClock } from './store/clock.ts'
export type { FaultDelay, FaultScope } from './store/fault-list.ts'
export type {
  ConnectionFaults,
  FaultSwitch,
  OperationFaults,
  PartFaults,
  PortFaults,
  QuotaFaults,
} from './store/faults.ts'
export type {
  NextRequestOptions,
  RecordedRequest,
  RecordedResponse,
  RequestFilter,
  RequestJournal,
} from './store/journal.ts'
export type { SeedPet, TestPetStoreOptions } from './store/options.ts'
export { createTestPetStore, type TestPetStore } from './store/pet-store.ts'
export type { HttpContractOptions } from './suites/http/client.ts'
export { httpContract } from './suites/http/suite.ts'
export { type KeyStoreContractOptions, keyStoreContract } from './suites/ports/keys.ts'
export { type QuotaContractOptions, quotaContract } from './suites/ports/quota.ts'
export { type StorageContractOptions, storageContract } from './suites/ports/storage.ts'
export type { Opened, SuiteOptions, TestRunner } from './suites/ports/suite.ts'
