import { BlockList, isIPv6 } from 'node:net'
import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { addressReader, canonicalAddress, type TrustProxy } from '../../../../adapters/hosts/shared/client-address.ts'
import { startServer } from '../../../support/node-server.ts'
import { rawRequest } from '../../../support/raw-http.ts'

/** No client has an address in 0.0.0.0/8, whose NAT64 address may be written without its IPv4 part. */
const ipV4 = fc.ipV4().filter((text) => !text.startsWith('0.'))
/** Addresses of a client, each in a random spelling. */
const client = fc.oneof(
  ipV4.map((text) => ({ text, canonical: text })),
  fc
    .tuple(fc.constantFrom('::ffff:', '::ffff:0:', '64:ff9b::'), ipV4)
    .map(([prefix, text]) => ({ text: prefix + text, canonical: canonicalAddress(text) })),
  fc.tuple(fc.ipV4(), fc.nat(65_535)).map(([text, port]) => ({ text: `${text}:${port}`, canonical: text })),
  fc.ipV6().map((text) => ({ text: text.toUpperCase(), canonical: canonicalAddress(text) })),
  fc
    .tuple(fc.ipV6(), fc.nat(65_535))
    .map(([text, port]) => ({ text: `[${text}]:${port}`, canonical: canonicalAddress(text) })),
)
const trusted = ['10.0.0.0/8', '192.168.7.1', 'fd00::/8']
const proxy = fc.oneof(
  fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255)).map((rest) => `10.${rest.join('.')}`),
  fc.nat(255).map((last) => `::ffff:10.1.2.${last}`),
  fc.constant('192.168.7.1'),
  fc.nat(65_535).map((last) => `fd00::${last.toString(16)}`),
)
const untrusted = client.filter(
  ({ canonical }) => canonical !== undefined && !/^(10\.|192\.168\.7\.1$|fd)/.test(canonical),
)
/** Entries of `X-Forwarded-For` that an attacker sends before the proxies add theirs. */
const spoofed = fc.array(
  fc.oneof(
    proxy,
    fc.ipV4(),
    fc.ipV6(),
    fc.string().map((text) => text.replaceAll(',', '')),
  ),
  {
    maxLength: 5,
  },
)
const spaces = fc.constantFrom(',', ', ', ' ,\t')

describe('X-Forwarded-For with entries that the client has sent', () => {
  test('finds the client behind any chain of listed proxies', () => {
    const read = addressReader(trusted)
    const property = fc.property(
      untrusted,
      fc.array(proxy, { minLength: 1, maxLength: 5 }),
      spoofed,
      spaces,
      ({ text, canonical }, proxies, prefix, comma) => {
        const [peer, ...others] = proxies
        expect(read(peer, [...prefix, text, ...others.reverse()].join(comma))).toBe(canonical)
      },
    )
    fc.assert(property, { numRuns: 500 })
  })

  test('finds the client behind a given number of proxies', () => {
    const property = fc.property(
      untrusted,
      fc.array(proxy, { minLength: 1, maxLength: 5 }),
      spoofed,
      ({ text, canonical }, proxies, prefix) => {
        const [peer, ...others] = proxies
        const read = addressReader(proxies.length)
        expect(read(peer, [...prefix, text, ...others.reverse()].join(', '))).toBe(canonical)
      },
    )
    fc.assert(property, { numRuns: 500 })
  })

  test('X-Forwarded-For from an untrusted peer is ignored', () => {
    const property = fc.property(
      untrusted,
      fc.string(),
      fc.constantFrom<TrustProxy>(false, 0, [], trusted),
      (peer, header, trustProxy) => {
        expect(addressReader(trustProxy)(peer.text, header)).toBe(peer.canonical)
      },
    )
    fc.assert(property)
  })

  test('any X-Forwarded-For gives a canonical address or undefined', () => {
    const setting = fc.constantFrom<TrustProxy>(false, 1, 3, trusted)
    const property = fc.property(setting, fc.option(fc.string()), fc.string(), (trustProxy, peer, header) => {
      const address = addressReader(trustProxy)(peer ?? undefined, header)
      if (address !== undefined) expect(canonicalAddress(address)).toBe(address)
    })
    fc.assert(property, { numRuns: 500 })
  })
})

describe('Forwarded', () => {
  /** An address as RFC 7239 writes it: quoted if it has a colon, an IPv6 address in brackets. */
  const nodeOf = (text: string) => {
    if (!text.includes(':')) return text
    return isIPv6(text) ? `"[${text}]"` : `"${text}"`
  }
  const element = (text: string, others = '') => `${others}for=${nodeOf(text)}`

  test('alone, is read like X-Forwarded-For', () => {
    const setting = fc.constantFrom<TrustProxy>(false, 0, 1, 2, [], trusted)
    const property = fc.property(setting, proxy, fc.array(untrusted), (trustProxy, peer, clients) => {
      const read = addressReader(trustProxy)
      const texts = clients.map(({ text }) => text)
      const forwarded = texts.map((text) => element(text)).join(', ')
      expect(read(peer, undefined, forwarded)).toBe(read(peer, texts.join(', ')))
    })
    fc.assert(property)
  })

  test.each([
    ['for=203.0.113.7', '203.0.113.7'],
    ['For="203.0.113.7:4711"', '203.0.113.7'],
    ['FOR="[2001:DB8::1]:4711"', '2001:db8::1'],
    ['for="[2001:db8::1]"', '2001:db8::1'],
    ['for="[64:ff9b::203.0.113.7]"', '203.0.113.7'],
    ['by=203.0.113.43;for=203.0.113.7;proto=https', '203.0.113.7'],
    ['proto=https; for=203.0.113.7 ; host="a.example"', '203.0.113.7'],
    ['for=1.1.1.1, for=203.0.113.7', '203.0.113.7'],
    ['for="1.1.1.1, for=203.0.113.7', '203.0.113.7'],
    ['for="1.1.1.1\\", for=203.0.113.7', '203.0.113.7'],
    ['for=203.0.113.7;host="a, for=1.1.1.1"', '203.0.113.7'],
    ['host="a;for=1.1.1.1";for=203.0.113.7', '203.0.113.7'],
    ['for=203.0.113.7;host="a\\", for=1.1.1.1;\\\\"', '203.0.113.7'],
    ['for=1.1.1.1;host="a\\, for=203.0.113.7', '203.0.113.7'],
    ['for=1.1.1.1;host=a\\, for=203.0.113.7;host="b"', '203.0.113.7'],
    ['host="for=1.1.1.1";for=203.0.113.7', '203.0.113.7'],
    ['for=unknown', '10.0.0.1'],
    ['for=1.1.1.1, for=_hidden', '10.0.0.1'],
    ['for=1.1.1.1, proto=https', '10.0.0.1'],
    ['for=1.1.1.1, x-for=2.2.2.2', '10.0.0.1'],
    ['for="203.0.113.7', '10.0.0.1'],
    ['for=203.0.113.7,', '10.0.0.1'],
    ['', '10.0.0.1'],
  ])('%j from one proxy gives the client %s', (forwarded, client) => {
    expect(addressReader(1)('10.0.0.1', undefined, forwarded)).toBe(client)
  })

  test.each([
    ['the same entries', '1.1.1.1, 203.0.113.7', 'for=1.1.1.1, for=203.0.113.7', '203.0.113.7'],
    ['the same address in two spellings', '203.0.113.7:80', 'for="[::ffff:203.0.113.7]"', '203.0.113.7'],
    ['fewer entries of Forwarded', '203.0.113.7, 10.0.0.2', 'for=10.0.0.2', '203.0.113.7'],
    ['fewer entries of X-Forwarded-For', '10.0.0.2', 'for=203.0.113.7, for=10.0.0.2', '203.0.113.7'],
    ['another X-Forwarded-For', '1.1.1.1', 'for=203.0.113.7', '10.0.0.1'],
    ['a longer X-Forwarded-For', '203.0.113.7, 1.1.1.1', 'for=203.0.113.7', '10.0.0.1'],
    ['another Forwarded', '203.0.113.7', 'for=1.1.1.1', '10.0.0.1'],
    ['Forwarded without a client', '203.0.113.7', 'proto=https', '10.0.0.1'],
  ])('both headers, with %s', (_, forwardedFor, forwarded, client) => {
    const onConflict = vi.fn()
    expect(addressReader(['10.0.0.0/8'], onConflict)('10.0.0.1', forwardedFor, forwarded)).toBe(client)
    expect(onConflict).toHaveBeenCalledTimes(client === '10.0.0.1' ? 1 : 0)
  })

  test('a client that sends the other header is never counted by an address of its choice', () => {
    const headers = fc.tuple(spoofed, fc.boolean(), untrusted, fc.constantFrom<TrustProxy>(1, trusted))
    const property = fc.property(headers, ([entries, isStandard, { text, canonical }, trustProxy]) => {
      const header = isStandard ? entries.join(', ') : entries.map((entry) => element(entry)).join(', ')
      const added = isStandard ? element(text) : text
      const both = isStandard ? ([header, added] as const) : ([added, header] as const)
      expect([canonical, '10.0.0.1']).toContain(addressReader(trustProxy)('10.0.0.1', ...both))
    })
    fc.assert(property, { numRuns: 500 })
  })

  test('finds the client whatever the client has sent in Forwarded and in Host', () => {
    const text = fc
      .array(fc.constantFrom('"', '\\', ',', ';', ' ', 'for=1.1.1.1', 'host=', 'a'))
      .map((all) => all.join(''))
    const property = fc.property(
      text,
      text,
      untrusted,
      fc.boolean(),
      (sent, host, { text, canonical }, isHostFirst) => {
        const quoted = `host="${host.replaceAll(/["\\]/g, '\\$&')}"`
        const added = isHostFirst ? `${quoted};${element(text)}` : `${element(text)};${quoted}`
        expect(addressReader(1)('10.0.0.1', undefined, `${sent}, ${added}`)).toBe(canonical)
      },
    )
    fc.assert(property, { numRuns: 2_000 })
  })

  test('reads only the end of a long header', () => {
    const entries = Array.from({ length: 40 }, (_, i) => `for=10.0.0.${i};host="${'a'.repeat(200)}"`)
    expect(addressReader(1)('10.0.0.1', undefined, entries.join(', '))).toBe('10.0.0.39')
    expect(addressReader(trusted)('10.0.0.1', undefined, ['for=203.0.113.7', ...entries].join(', '))).toMatch(/^10\./)
  })

  test('without an address of the connection, X-Forwarded-For decides', () => {
    expect(addressReader(1)(undefined, '203.0.113.7', 'for=1.1.1.1')).toBe('203.0.113.7')
  })
})

describe('the option trustProxy', () => {
  test.each<[TrustProxy, string, string | undefined, string]>([
    [['::ffff:10.0.0.0/104'], '10.9.9.9', '1.2.3.4', '1.2.3.4'],
    [['::ffff:10.0.0.0/104'], '11.9.9.9', '1.2.3.4', '11.9.9.9'],
    [['10.0.0.0/8'], '::ffff:10.9.9.9', '1.2.3.4', '1.2.3.4'],
    [['0.0.0.0/0'], '9.9.9.9', '1.2.3.4, 5.6.7.8', '1.2.3.4'],
    [['10.0.0.0/8'], '10.0.0.1', undefined, '10.0.0.1'],
    [['10.0.0.0/8'], '10.0.0.1', 'unknown', '10.0.0.1'],
    [['10.0.0.0/8'], '10.0.0.1', '1.2.3.4, _hidden, 10.0.0.2', '10.0.0.2'],
    [2, '10.0.0.1', '1.2.3.4', '1.2.3.4'],
    [1, '10.0.0.1', '', '10.0.0.1'],
    [['fe80::/10'], 'fe80::1%eth0', '2001:DB8::1', '2001:db8::1'],
    [1, '10.0.0.1', '[2001:DB8::1]', '2001:db8::1'],
    [['2001:db8::/64'], '2001:db8::7', '1.2.3.4', '1.2.3.4'],
    [['2001:db8::7'], '2001:db8::7', '1.2.3.4', '1.2.3.4'],
    [['2001:db8::7'], '2001:db8::8', '1.2.3.4', '2001:db8::8'],
  ])('trustProxy %j, peer %s and X-Forwarded-For %s give the client %s', (trustProxy, peer, header, address) => {
    expect(addressReader(trustProxy)(peer, header)).toBe(address)
  })

  test.each([
    -1,
    1.5,
    Number.NaN,
    ['x'],
    ['10.0.0.0/33'],
    ['::/129'],
    ['10.0.0.0/-1'],
    ['10.0.0.0/8/8'],
    ['10.0.0.0/'],
    ['::ffff:10.0.0.0/95'],
    [''],
    true,
    'loopback',
    null,
    [7],
  ])('the error about the value %j names trustProxy', (trustProxy) => {
    expect(() => addressReader(trustProxy as TrustProxy)).toThrow(/^option trustProxy(?:\[0\])?: expected /)
  })
})

test('ignores X-Forwarded-For in a request with 1,000 headers or more', async () => {
  // Node drops headers above a maximum number, so the header that the proxy added may be missing.
  const { url } = await startServer({ perMinute: 1, trustProxy: 1 })
  const statusOf = async (forwardedFor: string, headers: number) => {
    const head = `GET /v1/pets HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${forwardedFor}\r\n`
    return (await rawRequest(url, `${head}${'a:1\r\n'.repeat(headers)}\r\n`)).status
  }
  expect([await statusOf('1.1.1.1', 900), await statusOf('2.2.2.2', 900)]).toEqual([401, 401])
  expect([await statusOf('3.3.3.3', 998), await statusOf('4.4.4.4', 1_100)]).toEqual([401, 429])
})

test('reads at most 32 entries of X-Forwarded-For', () => {
  const read = addressReader(['10.0.0.0/8'])
  const proxies = Array.from({ length: 1_900 }, (_, i) => `10.0.${i >> 8}.${i & 255}`)
  const check = vi.spyOn(BlockList.prototype, 'check')
  expect(read('10.0.0.1', ['203.0.113.7', ...proxies].join(', '))).toBe(proxies.at(-32))
  expect(check.mock.calls.length).toBe(33)
  check.mockRestore()
  expect(read('10.0.0.1', ['203.0.113.7', ...proxies.slice(0, 31)].join(', '))).toBe('203.0.113.7')
})
