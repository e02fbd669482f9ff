import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import express from 'express'
import Fastify from 'fastify'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { toExpressHandler } from '../../../adapters/hosts/express.ts'
import { toFastifyPlugin } from '../../../adapters/hosts/fastify.ts'
import { createPetStore, type PetStore, type ResponseReport } from '../../../src/index.ts'

/** Starts each host with its own setting for proxies. Returns the URL. */
const hosts = {
  async Express(petStore: PetStore, proxies?: string[]) {
    const app = express().use(toExpressHandler(petStore))
    if (proxies) app.set('trust proxy', proxies)
    const server = app.listen(0, '127.0.0.1')
    onTestFinished(() => void server.close().closeAllConnections())
    await once(server, 'listening')
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  },
  async Fastify(petStore: PetStore, proxies?: string[]) {
    const server = Fastify(proxies ? { trustProxy: proxies } : {})
    onTestFinished(() => server.close())
    server.register(toFastifyPlugin, { petStore })
    return server.listen({ port: 0, host: '127.0.0.1' })
  },
}

describe.each(Object.entries(hosts))('%s', (_, start) => {
  async function addressOf(headers: Record<string, string>, proxies?: string[]) {
    const onResponse = vi.fn<(report: ResponseReport) => void>()
    const onError = vi.fn()
    const url = await start(createPetStore({ onResponse, onError }), proxies)
    for (let i = 0; i < 2; i++) expect((await fetch(`${url}/v1/pets`, { headers })).status).toBe(401)
    return { address: onResponse.mock.calls[0]?.[0].clientAddress, notices: onError.mock.calls }
  }

  test.each([
    ['the last untrusted entry', '9.9.9.9, 203.0.113.7, 10.1.2.3', '203.0.113.7'],
    ['an entry without its port', '203.0.113.7:4711', '203.0.113.7'],
    ['an address of NAT64 as IPv4', '64:ff9b::203.0.113.7', '203.0.113.7'],
    ['the connection in place of text', 'unknown', '127.0.0.1'],
  ])('counts by %s if the host trusts the proxy', async (_, forwardedFor, expected) => {
    const { address, notices } = await addressOf({ 'x-forwarded-for': forwardedFor }, ['127.0.0.1', '10.0.0.0/8'])
    expect([address, notices]).toEqual([expected, []])
  })

  test('ignores X-Forwarded-For of a client that is no proxy', async () => {
    expect((await addressOf({ 'x-forwarded-for': '203.0.113.7' }, ['10.0.0.0/8'])).address).toBe('127.0.0.1')
  })

  test.each(['x-forwarded-for', 'forwarded'])('reports %s once if the host trusts no proxy', async (name) => {
    const { address, notices } = await addressOf({ [name]: 'for=203.0.113.7' })
    const message = expect.stringMatching(
      /trusts no proxy.*set (?:app\.set\('trust proxy'|Fastify\(\{ trustProxy).*https:/,
    )
    expect(address).toBe('127.0.0.1')
    expect(notices).toEqual([
      [expect.objectContaining({ code: 'untrusted_forwarded_for', message }), expect.anything()],
    ])
  })

  test('reports Forwarded once if the proxy writes no X-Forwarded-For, which the host would read', async () => {
    const { address, notices } = await addressOf({ forwarded: 'for=203.0.113.7' }, ['127.0.0.1'])
    expect(address).toBe('127.0.0.1')
    const message = expect.stringContaining('let the proxy write X-Forwarded-For')
    expect(notices).toEqual([
      [expect.objectContaining({ code: 'untrusted_forwarded_for', message }), expect.anything()],
    ])
  })

  test('ignores X-Forwarded-For with so many headers that Node may have dropped one', async () => {
    const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`x-${i}`, '1']))
    const { address } = await addressOf({ 'x-forwarded-for': '203.0.113.7', ...many }, ['127.0.0.1'])
    expect(address).toBe('127.0.0.1')
  })
})
