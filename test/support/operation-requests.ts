import type { PetStoreClient } from '../../src/client/index.ts'
import type { OperationName } from '../../src/operations.ts'

/** A request of each operation, below the base path. It succeeds if the store has an animal with the id 1. */
export const operationRequests: Readonly<
  Record<OperationName, { readonly path: string; readonly body?: string; readonly contentType?: string }>
> = {
  listPets: { path: '/pets?limit=1' },
  createPet: { path: '/pets', contentType: 'application/json', body: '{"name":"Rex","categoryId":1}' },
  getPet: { path: '/pets/1' },
}

/** Calls each operation through the client, without an idempotency key. */
export const operationCalls: Readonly<Record<OperationName, (client: PetStoreClient) => Promise<unknown>>> = {
  listPets: (client) => client.listPets(),
  createPet: (client) => client.createPet({ name: 'Rex', categoryId: 1n }, { idempotencyKey: null }),
  getPet: (client) => client.getPet(1n),
}
