import { describe, expect, test } from 'vitest'
import { createClient } from '../../src/client/client.ts'
import { errorTable } from '../../src/errors.ts'
import type { ResponseReport } from '../../src/index.ts'
import { errorCodesOf, operationNames, operations, unmatchedErrorCodes } from '../../src/operations.ts'
import { createTestPetStore } from '../../src/testing/index.ts'
import { operationCalls, operationRequests } from '../support/operation-requests.ts'

/** Creates a test store with one animal, and returns a function that sends the request of an operation. */
async function startStore() {
  const reports: ResponseReport[] = []
  const store = await createTestPetStore({
    pets: [{ name: 'Rex' }],
    onResponse: (report) => reports.push(report),
    onError: () => {},
  })
  const send = (name: keyof typeof operations) => {
    const { path, body = null, contentType } = operationRequests[name]
    const headers: Record<string, string> = contentType === undefined ? {} : { 'content-type': contentType }
    return store.request(path, { method: operations[name].method, body, headers })
  }
  return { ...store, reports, send }
}

describe.each(operationNames)('the operation %s', (name) => {
  const { method, path, isRepeatable } = operations[name]
  const others = operationNames.filter((other) => other !== name)

  test('is listed in Allow of its path', async () => {
    const { request } = await startStore()
    const response = await request(path.replaceAll(/\{\w+\}/g, '1'), { method: 'OPTIONS' })
    expect(response.headers.get('allow')?.split(', ')).toContain(method)
  })

  test('is named in the report of its responses', async () => {
    const { send, reports } = await startStore()
    await send(name)
    expect(reports.map(({ operation }) => operation)).toEqual([name])
  })

  test('fails while its storage fault is active, and no other operation does', async () => {
    const { send, faults } = await startStore()
    faults.for({ operation: name }).storage.fail()
    expect((await send(name)).status).toBe(503)
    for (const other of others) expect([other, (await send(other)).ok]).toEqual([other, true])
  })

  test('loses its response while its connection fault is active, and no other operation does', async () => {
    const { send, faults } = await startStore()
    faults.for({ operation: name }).connection.breakConnections()
    await expect(send(name)).rejects.toThrow()
    for (const other of others) expect([other, (await send(other)).ok]).toEqual([other, true])
  })

  test(`is ${isRepeatable ? '' : 'not '}sent again by the client after a lost response`, async () => {
    const { fetch, token, faults, requests } = await startStore()
    faults.connection.breakTimes(1)
    const client = createClient({ baseUrl: 'http://localhost/v1', apiKey: token, fetch }, { sleep: async () => {} })
    const call = operationCalls[name](client)
    if (isRepeatable) await call
    else await expect(call).rejects.toMatchObject({ code: 'network_error' })
    expect(requests.map((request) => request.method)).toEqual(isRepeatable ? [method, method] : [method])
  })
})

test('each error code belongs to an operation, or to requests without one', () => {
  const listed = [...new Set(operationNames.flatMap(errorCodesOf)), ...unmatchedErrorCodes]
  expect(listed.sort()).toEqual(Object.keys(errorTable).sort())
})
