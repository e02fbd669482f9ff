import assert from 'node:assert/strict'
import { hasIPv6 } from '../../start-host.ts'
import { socketClient } from '../client.ts'
import { eventually, expectError, expectJson, get, probe } from '../expect.ts'
import type { Rules } from '../suite.ts'

/** Conformance tests of the client address, and of proxies that forward this address. */
export const addresses: Rules = {
  'counts anonymous clients per address, and separately from keys': async ({ send }) => {
    for (let i = 0; i < 2; i++) expectError(await send('/anonymous/v1/pets'), 401, 'missing_api_key')
    const refused = await send('/anonymous/v1/pets', { headers: { authorization: 'Bearer nobody' } })
    expectError(refused, 429, 'rate_limit_exceeded')
    expectJson(await get(send, '/anonymous/v1/pets'), 200)
  },
  'ignores X-Forwarded-For without trustProxy': async ({ send }) => {
    expectError(await send('/spoofed/v1/pets', { headers: { 'x-forwarded-for': '1.1.1.1' } }), 401, 'missing_api_key')
    const again = await send('/spoofed/v1/pets', { headers: { 'x-forwarded-for': '2.2.2.2' } })
    expectError(again, 429, 'rate_limit_exceeded')
  },
  'with trustProxy 1, uses the last address of X-Forwarded-For': async ({ send }) => {
    const ask = (forwardedFor: string) => send('/hops/v1/pets', { headers: { 'x-forwarded-for': forwardedFor } })
    expectError(await ask('9.9.9.9, 5.5.5.5'), 401, 'missing_api_key')
    expectError(await ask('6.6.6.6'), 401, 'missing_api_key')
    expectError(await ask('8.8.8.8, 5.5.5.5'), 429, 'rate_limit_exceeded')
  },
  'with trustProxy 1, uses the last address of Forwarded': async ({ send }) => {
    const ask = (forwarded: string) => send('/hops/v1/pets', { headers: { forwarded } })
    expectError(await ask('for=9.9.9.9, for="[2001:db8::5]";proto=https'), 401, 'missing_api_key')
    expectError(await ask('for=7.7.7.7'), 401, 'missing_api_key')
    expectError(await ask('for="[2001:db8::6]:4711"'), 429, 'rate_limit_exceeded')
  },
  'with listed proxies, uses the last untrusted address': async ({ send }) => {
    const addressOf = async (forwardedFor: string) => {
      await get(send, '/cidr/v1/pets', { 'x-forwarded-for': forwardedFor })
      return (await probe(send)).addresses.cidr
    }
    assert.equal(await addressOf('8.8.8.8, 203.0.113.7, 10.1.2.3'), '203.0.113.7')
    assert.equal(await addressOf('203.0.113.7:4711, 10.1.2.3'), '203.0.113.7')
    assert.equal(await addressOf('::ffff:203.0.113.9'), '203.0.113.9')
    assert.equal(await addressOf('[2001:DB8:0::1]:443'), '2001:db8::1')
    assert.equal(await addressOf('unknown'), '127.0.0.1')
  },
  'counts an anonymous client that disconnects': async ({ send, wire, looks }) => {
    const before = await probe(send)
    const leaving = wire()
    leaving.write('GET /left/v1/pets HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer leaves\r\n\r\n')
    await eventually(async () => (await probe(send)).started > before.started, 'the request never arrived')
    leaving.close()
    await eventually(async () => (await probe(send)).aborted > before.aborted, 'no abort', looks)
    expectError(await send('/left/v1/pets'), 429, 'rate_limit_exceeded')
  },
  'normalizes the address of the connection': async ({ send, port }) => {
    await get(send, '/v1/pets')
    assert.equal((await probe(send)).addresses.main, '127.0.0.1')
    if (!hasIPv6) return
    await get(socketClient(port, '::1'), '/v1/pets')
    assert.equal((await probe(send)).addresses.main, '::1')
  },
}
