import { expect, test } from 'vitest'
import { watchUsage } from '../../../adapters/cli/page/usage.ts'
import { type BackEnd, memory } from '../../../src/index.ts'
import { wrapPort } from '../../../src/support/wrap-port.ts'
import { portFaults } from '../../../src/testing/faults.ts'

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

test.each([
  ['the usage of the page', (backEnd: BackEnd) => watchUsage(backEnd, Date), 2],
  ['the faults of the test store', (backEnd: BackEnd) => portFaults().inFrontOf(backEnd), 3],
])('the context of each call reaches the port behind %s', async (_, wrap, calls) => {
  expect(await contextsBehind(wrap)).toEqual(Array(calls).fill(context))
})

test('a storage with faults has createOnce only if the storage behind it has it', () => {
  const backEnd = memory()
  const { createOnce: _, ...plain } = backEnd.storage
  expect(portFaults().inFrontOf(backEnd).storage).toHaveProperty('createOnce')
  expect(portFaults().inFrontOf({ ...backEnd, storage: plain }).storage).not.toHaveProperty('createOnce')
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
