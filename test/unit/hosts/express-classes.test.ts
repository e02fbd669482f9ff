import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import express from 'express'
import { expect, onTestFinished, test } from 'vitest'
import { toExpressHandler } from '../../../adapters/hosts/express.ts'
import { createTestPetStore } from '../../../src/testing/index.ts'

const express4 = createRequire(import.meta.url)('express4') as typeof express

type Pair = readonly [request: IncomingMessage, response: ServerResponse]

/** Asks an app of Express two things, and looks at both at once, before and after the door has taken them. */
async function askTwice(framework: typeof express, before: (pair: Pair) => void, after: (pairs: Pair[]) => void) {
  const { token, ...store } = await createTestPetStore()
  let release = () => {}
  const both = new Promise<void>((resolve) => {
    release = resolve
  })
  const handler = toExpressHandler({ ...store, handle: (request) => both.then(() => store.handle(request)) })
  const pairs: Pair[] = []
  const app = framework().use((request, response, next) => {
    before([request, response])
    handler(request, response, next)
    if (pairs.push([request, response]) < 2) return
    after(pairs)
    release()
  })
  const server = app.listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/pets`
  const ask = () => fetch(url, { headers: { authorization: `Bearer ${token}`, connection: 'close' } })
  const answers = await Promise.all([ask(), ask()])
  expect(answers.map(({ status }) => status)).toEqual([200, 200])
}

test.each([
  [4, express4],
  [5, express],
])('Express %i: its requests share a hidden class, and so do its responses', async (_version, framework) => {
  setFlagsFromString('--allow-natives-syntax')
  const isOfOneClass = new Function('one', 'other', 'return %HaveSameMap(one, other)')
  let seen: unknown[] = []
  await askTwice(
    framework,
    () => {},
    ([one, other]) => {
      seen = [isOfOneClass(one?.[0], other?.[0]), isOfOneClass(one?.[1], other?.[1]), isOfOneClass(one?.[0], one?.[1])]
    },
  )
  expect(seen).toEqual([true, true, false])
})

test('Express: nothing is added to a request or a response, nor lost', async () => {
  const parts = (pair: Pair) => pair.map((message) => Reflect.ownKeys(message))
  const known: unknown[] = []
  let seen: unknown[] = []
  const look = (pairs: Pair[]) => {
    seen = pairs.map(parts)
  }
  await askTwice(express, (pair) => known.push(parts(pair)), look)
  expect(seen).toEqual(known)
})

test('Express: a request that a host has put a proxy before, which lets nobody add to it, is answered', async () => {
  const { token, ...store } = await createTestPetStore()
  const handler = toExpressHandler(store)
  const refuse = () => {
    throw new TypeError('nothing may be added')
  }
  const app = express().use((request, response, next) => {
    handler(new Proxy(request, { defineProperty: refuse, set: refuse }), response, next)
  })
  const server = app.listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/pets`
  const { status } = await fetch(url, { headers: { authorization: `Bearer ${token}`, connection: 'close' } })
  expect(status).toBe(200)
})
