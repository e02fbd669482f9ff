import { createServer, type IncomingMessage } from 'node:http'
import { describe, expect, test } from 'vitest'
import { toNodeHandler } from '../../../../adapters/hosts/node/index.ts'
import type { ApiRequest } from '../../../../src/index.ts'
import { startHost, storeWithKey } from '../../../support/node-server.ts'
import { rawConnection } from '../../../support/raw-http.ts'

async function handlerWithKey() {
  const { petStore, token } = await storeWithKey()
  return { petStore, handler: toNodeHandler(petStore), token, authorization: `Bearer ${token}` }
}

describe('headers that earlier middleware has changed', () => {
  const behind = async (change: (headers: IncomingMessage['headers'], authorization: string) => void, sent: string) => {
    const { handler, authorization } = await handlerWithKey()
    const server = createServer((request, response) => {
      change(request.headers, authorization)
      handler(request, response, () => response.end())
    })
    const connection = await rawConnection(await startHost(server))
    void connection.send(`GET /v1/pets HTTP/1.1\r\nHost: a\r\n${sent}\r\n`)
    return (await connection.answer()).status
  }

  test.each([
    ['a key that middleware has added', '', 200],
    ['a key that middleware has put instead of other credentials', 'Authorization: Basic abc\r\n', 200],
  ])('a request is authenticated with %s', async (_how, sent, status) => {
    const add = (headers: IncomingMessage['headers'], authorization: string) => {
      headers.authorization = authorization
    }
    expect(await behind(add, sent)).toBe(status)
  })

  test('a request gets 401 if middleware removes its key', async () => {
    const remove = (headers: IncomingMessage['headers']) => {
      headers.authorization = undefined
    }
    expect(await behind(remove, 'Authorization: $\r\n')).toBe(401)
  })

  test('the store gets the X-Forwarded-For that middleware has shortened', async () => {
    const { petStore, authorization } = await handlerWithKey()
    const seen: unknown[] = []
    const watched = { ...petStore, handle: (request: ApiRequest) => petStore.handle(watch(request)) }
    const watch = (request: ApiRequest) => {
      seen.push(request.header('x-forwarded-for'))
      return request
    }
    const server = createServer((request, response) => {
      request.headers['x-forwarded-for'] = '192.0.2.1'
      toNodeHandler(watched)(request, response, () => response.end())
    })
    const connection = await rawConnection(await startHost(server))
    const forwarded = 'X-Forwarded-For: 192.0.2.1, 192.0.2.2\r\n'
    void connection.send(`GET /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\n${forwarded}\r\n`)
    expect((await connection.answer()).status).toBe(200)
    expect(seen).toEqual(['192.0.2.1'])
  })

  test('a handler called without `next` reads the changed headers too', async () => {
    const { handler, authorization } = await handlerWithKey()
    const server = createServer((request, response) => {
      request.headers.authorization = authorization
      handler(request, response)
    })
    const connection = await rawConnection(await startHost(server))
    void connection.send('GET /v1/pets HTTP/1.1\r\nHost: a\r\n\r\n')
    expect((await connection.answer()).status).toBe(200)
  })
})

test('onResponse gets a target outside the base path unchanged', async () => {
  const targets: string[] = []
  const { petStore } = await storeWithKey({ store: { onResponse: ({ target }) => void targets.push(target) } })
  const connection = await rawConnection(await startHost(toNodeHandler(petStore)))
  void connection.send('GET /elsewhere?a=1 HTTP/1.1\r\nHost: a\r\n\r\n')
  expect((await connection.answer()).status).toBe(401)
  expect(targets).toEqual(['/elsewhere?a=1'])
})
