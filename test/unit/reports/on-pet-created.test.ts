import { expect, test, vi } from 'vitest'
import { type CreationReport, memory, type PetStorage } from '../../../src/index.ts'
import { startApi } from '../../support/api.ts'

const REX = '{"name":"Rex","categoryId":1}'
const headers = { 'idempotency-key': 'order-1' }

/** Creates a store whose `onPetCreated` does this, and returns the reports and errors of its hooks. */
async function startHooked({ hook = () => {}, storage }: { hook?: () => unknown; storage?: PetStorage } = {}) {
  const [onPetCreated, onError] = [vi.fn((_: CreationReport) => hook()), vi.fn()]
  const api = await startApi({ onPetCreated, onError, ...(storage && { storage }) })
  return { ...api, onPetCreated, onError }
}

test('gets the animal of a client and its key', async () => {
  const { add, key, onPetCreated } = await startHooked()
  await add(REX)
  const pet = { id: 1n, name: 'Rex', categoryId: 1n, status: 'available' }
  expect(onPetCreated).toHaveBeenCalledExactlyOnceWith({ pet, key: expect.objectContaining({ id: key.id }) })
})

test('is not called for a repeat of an idempotency key', async () => {
  const { add, onPetCreated } = await startHooked()
  for (const status of [201, 201, 422]) {
    const body = status === 201 ? REX : REX.replace('Rex', 'Mia')
    expect((await add(body, { headers })).status).toBe(status)
  }
  expect(onPetCreated).toHaveBeenCalledOnce()
})

test('is not called for a rejected animal, nor for one of the host', async () => {
  const { add, petStore, onPetCreated } = await startHooked()
  expect((await add('{"name":"Rex"}')).status).toBe(400)
  expect((await add(REX, { token: 'wrong', address: '192.0.2.1' })).status).toBe(401)
  await petStore.pets.add({ name: 'Rex', categoryId: 1 })
  expect(onPetCreated).not.toHaveBeenCalled()
})

test('is not called before the animal is durable', async () => {
  const { storage } = memory()
  const create: PetStorage['create'] = async (pet) => {
    const created = await storage.create(pet)
    expect(onPetCreated).not.toHaveBeenCalled()
    return created
  }
  const { add, onPetCreated } = await startHooked({ storage: { ...storage, create } })
  expect((await add(REX)).status).toBe(201)
  expect(onPetCreated).toHaveBeenCalledOnce()
})

test('is not called if the storage fails', async () => {
  const create = () => Promise.reject(new Error('full'))
  const { add, onPetCreated } = await startHooked({ storage: { ...memory().storage, create } })
  expect((await add(REX)).status).toBe(500)
  expect(onPetCreated).not.toHaveBeenCalled()
})

test('is called if the client has disconnected', async () => {
  const { storage } = memory()
  const client = new AbortController()
  const create: PetStorage['create'] = async (pet) => {
    client.abort()
    return storage.create(pet)
  }
  const { petStore, token, onPetCreated } = await startHooked({ storage: { ...storage, create } })
  const sent = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  await petStore.fetch('http://a/v1/pets', { method: 'POST', headers: sent, body: REX, signal: client.signal })
  expect(onPetCreated).toHaveBeenCalledOnce()
})

test('does not delay the response', async () => {
  const { add } = await startHooked({ hook: () => new Promise(() => {}) })
  expect((await add(REX)).status).toBe(201)
})

test.each([
  [
    'throws',
    (failure: Error) => () => {
      throw failure
    },
  ],
  ['rejects', (failure: Error) => () => Promise.reject(failure)],
] as const)('onError gets the error if it %s, and the client its 201', async (_, failing) => {
  const failure = new Error('no mail')
  const { add, key, onError } = await startHooked({ hook: failing(failure) })
  expect((await add(REX)).status).toBe(201)
  const about = { method: 'POST', target: '/v1/pets', operation: 'createPet', keyId: key.id }
  expect(onError).toHaveBeenCalledExactlyOnceWith(failure, about)
})
