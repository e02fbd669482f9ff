import { expect, test } from 'vitest'
import { type BackEnd, createPetStore, memory, type PetStorage } from '../../../src/index.ts'
import { wrapPort } from '../../../src/support/wrap-port.ts'
import { portFaults } from '../../../src/testing/store/faults.ts'

const context = { signal: new AbortController().signal, clientAddress: '192.0.2.1' }

/** Calls each method of a wrapped back end with a context, and returns the contexts that its ports receive. */
async function contextsBehind(wrap: (backEnd: BackEnd) => Pick<BackEnd, 'keyStore' | 'quota'> & Partial<BackEnd>) {
  const seen: unknown[] = []
  const note = (context: unknown) => void seen.push(context)
  const { storage, quota } = memory()
  const { storage: pets, ...ports } = wrap({
    storage: { ...storage, list: (_, given) => note(given) ?? [] },
    keyStore: { find: (_, given) => note(given) },
    quota: { spend: (request, given) => note(given) ?? quota.spend(request) },
  })
  await pets?.list({ limit: 1 }, context)
  await ports.keyStore.find('a', context)
  const limits = { perMinute: 1, perDay: 1 }
  await ports.quota.spend({ subject: 'a', anonymous: false, limits, ban: false, now: 0 }, context)
  return seen
}

function addFaults(backEnd: BackEnd): BackEnd {
  const { withFaults, startList } = portFaults()
  return withFaults(startList(), backEnd)
}

test('the context of each call reaches the port behind a wrapped one', async () => {
  expect(await contextsBehind(addFaults)).toEqual(Array(3).fill(context))
})

test('a wrapped method keeps its port as `this`', () => {
  class Port {
    #name = 'Rex'
    get(id: number) {
      return `${this.#name} ${id}`
    }
  }
  expect(wrapPort(new Port(), { get: (call, id) => `${call()} of ${id}` }).get(7)).toBe('Rex 7 of 7')
})

const post = { method: 'POST', body: '{"name":"Rex","categoryId":1}' }
const headers = { authorization: 'Bearer desk', 'content-type': 'application/json', 'idempotency-key': 'order-1' }

/** A storage whose methods belong to its class, and read a private member. */
class ClassStorage implements PetStorage {
  #inner = memory().storage
  list: PetStorage['list'] = (query) => this.#inner.list(query)
  create(...parameters: Parameters<PetStorage['create']>) {
    return this.#inner.create(...parameters)
  }
  get(id: bigint) {
    return this.#inner.get(id)
  }
}

test.each<[string, PetStorage]>([
  ['an object', memory().storage],
  ['a frozen object', Object.freeze(memory().storage)],
  ['an instance of a class', new ClassStorage()],
  ['an instance of a derived class', new (class extends ClassStorage {})()],
])('a storage with one wrapped method keeps its other methods: %s', async (_, port) => {
  const calls: string[] = []
  const storage = wrapPort(port, {
    create(call) {
      calls.push('create')
      return call()
    },
  })
  const keyStore = { find: () => ({ id: 'desk', plan: 'free' }) }
  for (const ports of [{ storage }, { storage: { ...storage } }]) {
    const petStore = createPetStore({ ...ports, keyStore })
    const statuses = [
      await petStore.fetch('http://localhost/v1/pets', { ...post, headers }),
      await petStore.fetch('http://localhost/v1/pets', { ...post, headers: { ...headers, 'idempotency-key': '' } }),
      await petStore.fetch('http://localhost/v1/pets/1', { headers }),
      await petStore.fetch('http://localhost/v1/pets', { headers }),
    ].map(({ status }) => status)
    expect(statuses).toEqual([201, 400, 200, 200])
  }
  await storage.create({ name: 'Rex', categoryId: 1n, status: 'available' })
  expect(calls).toEqual(Array(3).fill('create'))
})

test('a wrapped port has members that are no methods, and those that its port gets later', () => {
  const port: { size: number; get?: (() => string) | undefined } = { size: 1, get: undefined }
  const wrapped = wrapPort(port, { get: (call) => `${call()}!` })
  expect([wrapped.size, wrapped.get]).toEqual([1, undefined])
  port.size = 2
  port.get = () => 'Rex'
  expect([wrapped.size, wrapped.get?.()]).toEqual([2, 'Rex!'])
})

test('wrapPort passes on the methods of a function', () => {
  const port = Object.assign(() => undefined, { find: (token: string) => `found ${token}` })
  expect(wrapPort<Pick<typeof port, 'find'>>(port, {}).find('a')).toBe('found a')
})
