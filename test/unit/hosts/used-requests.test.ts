import { expect, test, vi } from 'vitest'
import { toBunHandler } from '../../../adapters/hosts/bun.ts'
import { toDenoHandler } from '../../../adapters/hosts/deno.ts'
import { createPetStore, type KeyStore, memory } from '../../../src/index.ts'
import { createTestPetStore } from '../../../src/testing/index.ts'

const url = 'http://localhost/v1/pets'

async function given() {
  const faults: unknown[] = []
  const { fetch, token } = await createTestPetStore({ onError: (error) => faults.push(error) })
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const request = new Request(url, { method: 'POST', headers, body: '{"name":"Rex","categoryId":1}' })
  return { fetch, request, faults }
}

test('reports body_already_read for a Request that the host has read', async () => {
  const { fetch, request, faults } = await given()
  await request.json()
  const response = await fetch(request)
  expect(response.status).toBe(500)
  expect(await response.json()).toMatchObject({ code: 'body_already_read', status: 500 })
  expect(faults).toMatchObject([{ code: 'body_already_read' }])
})

test('reports body_already_read after the host has read part of the body', async () => {
  const { fetch, request } = await given()
  const reader = request.body?.getReader()
  await reader?.read()
  reader?.releaseLock()
  expect(await (await fetch(request)).json()).toMatchObject({ code: 'body_already_read' })
})

test('accepts a Request if only its clone was read', async () => {
  const { fetch, request } = await given()
  await request.clone().json()
  expect((await fetch(request)).status).toBe(201)
})

test('Bun: a used body and an incomplete body get different errors', async () => {
  const { token, ...petStore } = await createTestPetStore()
  const handler = toBunHandler(petStore)
  const ask = async (body: ReadableStream, prepare = (_request: Request) => {}) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'content-length': '29' }
    const request = new Request(url, { method: 'POST', headers, body, duplex: 'half' } as RequestInit)
    prepare(request)
    return (await handler(request, { requestIP: () => ({ address: '192.0.2.1' }) })).json()
  }
  const locked = await ask(new ReadableStream(), (request) => void request.body?.getReader())
  expect(locked).toMatchObject({ code: 'body_already_read' })
  const read = await ask(
    new Response('{"name":"Rex","categoryId":1}').body as ReadableStream,
    (request) => void request.text(),
  )
  expect(read).toMatchObject({ code: 'body_already_read' })
  const broken = await ask(new ReadableStream({ pull: (controller) => controller.error(new Error('gone')) }))
  expect(broken).toMatchObject({ code: 'incomplete_body' })
})

test('Deno: aborts the signal only if the client disconnects before the response', async () => {
  const signals: (AbortSignal | undefined)[] = []
  const find: KeyStore['find'] = (_token, context) => void signals.push(context?.signal)
  const handler = toDenoHandler(createPetStore({ keyStore: { find } }))
  const ask = async (client: AbortController) => {
    const request = new Request(url, { headers: { authorization: 'Bearer a' }, signal: client.signal })
    await handler(request, { remoteAddr: { hostname: '192.0.2.1' } })
  }
  const [leaving, staying] = [new AbortController(), new AbortController()]
  leaving.abort()
  await ask(leaving)
  await ask(staying)
  staying.abort()
  expect(signals.map((signal) => signal?.aborted)).toEqual([true, false])
})

test("Deno: aborts the back end's signal if the client disconnects", async () => {
  const client = new AbortController()
  const seen: (boolean | undefined)[] = []
  const find: KeyStore['find'] = async (_token, context) => {
    await new Promise((resolve) => setImmediate(resolve))
    seen.push(context?.signal?.aborted)
    client.abort()
    seen.push(context?.signal?.aborted)
    return undefined
  }
  const request = new Request(url, { headers: { authorization: 'Bearer a' }, signal: client.signal })
  await toDenoHandler(createPetStore({ keyStore: { find } }))(request, { remoteAddr: { hostname: '192.0.2.1' } })
  expect(seen).toEqual([false, true])
})

test('Deno: reads `signal` only if a port or an HTTP/2 upload needs it', async () => {
  const backEnd = memory()
  const { token } = await backEnd.keyStore.issue({ plan: 'free' })
  const errors: unknown[] = []
  const statuses: number[] = []
  const handler = toDenoHandler(
    createPetStore({
      ...backEnd,
      storage: { ...backEnd.storage, get: () => Promise.reject(new Error('down')) },
      onError: (error) => void errors.push(error),
      onResponse: ({ status }) => void statuses.push(status),
    }),
  )
  const ask = async (path: string, { body, ...more }: Record<string, string> = {}) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...more }
    const request = new Request(`${url}${path}`, body ? { method: 'POST', headers, body } : { headers })
    const read = vi.spyOn(request, 'signal', 'get')
    await handler(request, { remoteAddr: { hostname: '192.0.2.1' } })
    return read.mock.calls.length > 0
  }
  const body = '{"name":"Rex","categoryId":1}'
  expect(await ask('/1')).toBe(false)
  expect(await ask('', { body, host: 'a', 'content-length': '29' })).toBe(false)
  expect(await ask('', { body, host: 'a', 'transfer-encoding': 'chunked' })).toBe(false)
  expect(await ask('', { body })).toBe(true)
  expect([statuses, errors.length]).toEqual([[500, 201, 201, 201], 1])
})

test('Deno: rejects an HTTP/2 upload whose signal aborts after the end of the body', async () => {
  const backEnd = memory()
  const { token } = await backEnd.keyStore.issue({ plan: 'free' })
  const client = new AbortController()
  const body = new ReadableStream({
    pull(controller) {
      controller.enqueue(new TextEncoder().encode('{"name":"Rex","categoryId":1}'))
      controller.close()
      setTimeout(() => client.abort())
    },
  })
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const init = { method: 'POST', headers, body, duplex: 'half', signal: client.signal }
  const response = await toDenoHandler(createPetStore(backEnd))(new Request(url, init as RequestInit), {
    remoteAddr: { hostname: '192.0.2.1' },
  })
  expect(await response.json()).toMatchObject({ code: 'incomplete_body' })
  expect(await backEnd.storage.list({ limit: 1 })).toEqual([])
})
