export { type ManualClock, manualClock } from './clock.ts'
export { createTestPetStore, type TestPetStore, type TestPetStoreOptions } from './pet-store.ts'
