import { BlockList, isIP } from 'node:net'
import type { PetStoreError } from '../../../src/index.ts'
import { invalidOption, type OptionRule } from '../../../src/support/option-rules.ts'

/**
 * Which proxies to trust for the client's address.
 *
 * `false`: no proxy is trusted, and the connection's address is used. A number: how many proxies are in front of the server; each
 * adds an address to `X-Forwarded-For`. A list: the addresses and CIDR ranges of the proxies; the client is the first address
 * from the right that is not in the list.
 */
export type TrustProxy = false | number | readonly string[]

/** Returns the client's address, given the connection's address and the `X-Forwarded-For` header. */
export type AddressReader = (peer: string | undefined, forwardedFor: string | undefined) => string | undefined

/**
 * Creates the address reader for a value of `trustProxy`.
 *
 * @throws {PetStoreError} `invalid_option`
 */
export function addressReader(trustProxy: TrustProxy = false): AddressReader {
  if (trustProxy === false) return (peer) => firstKnown([peer])
  if (typeof trustProxy === 'number') return byHops(checkHops(trustProxy))
  return byList(trustedList(trustProxy))
}

const EXPECTED = 'false, a number of proxies, or a list of addresses and CIDR ranges'

/** The rule for the option `trustProxy`. `addressReader` checks the number or the list further. */
export const trustProxyRule: OptionRule = {
  expected: EXPECTED,
  check: (value) => value === false || typeof value === 'number' || Array.isArray(value),
}

function byHops(hops: number): AddressReader {
  return (peer, forwardedFor) => {
    const chain = [peer, ...forwardedAddresses(forwardedFor)]
    return firstKnown(chain.slice(0, hops + 1))
  }
}

function byList(trusted: BlockList): AddressReader {
  return (peer, forwardedFor) => {
    const chain = [peer, ...forwardedAddresses(forwardedFor)]
    const client = chain.findIndex((text) => !isTrusted(trusted, text))
    return firstKnown(client === -1 ? chain : chain.slice(0, client + 1))
  }
}

/** Returns the last valid address of a chain. If a proxy adds an invalid entry, the proxy's own address is returned. */
function firstKnown(chain: readonly (string | undefined)[]): string | undefined {
  for (let i = chain.length - 1; i >= 0; i--) {
    const address = chain[i] === undefined ? undefined : canonicalAddress(chain[i] as string)
    if (address !== undefined) return address
  }
  return undefined
}

function isTrusted(trusted: BlockList, text: string | undefined): boolean {
  const address = text === undefined ? undefined : canonicalAddress(text)
  return address !== undefined && trusted.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
}

/** Returns the addresses that proxies have added, beginning with the address of the nearest proxy. */
function forwardedAddresses(header = ''): string[] {
  return header === '' ? [] : header.split(',').reverse()
}

/**
 * Returns an IP address in its canonical spelling, without port, zone and brackets. An IPv4-mapped IPv6 address becomes IPv4.
 * Returns `undefined` for any other text.
 */
export function canonicalAddress(text: string): string | undefined {
  if (isIP(text) === 4) return text
  const bare = text
    .trim()
    .replace(/^\[([^\]]*)\](?::\d+)?$/, '$1')
    .replace(/^([\d.]+):\d+$/, '$1')
    .replace(/%.*$/, '')
  const version = isIP(bare)
  if (version !== 6) return version === 4 ? bare : undefined
  const canonical = new URL(`http://[${bare}]`).hostname.slice(1, -1)
  const mapped = /^::ffff:([\da-f]{1,4}):([\da-f]{1,4})$/.exec(canonical)
  if (mapped === null) return canonical
  const [high, low] = [Number.parseInt(mapped[1] as string, 16), Number.parseInt(mapped[2] as string, 16)]
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}

function checkHops(hops: number): number {
  if (!Number.isSafeInteger(hops) || hops < 0) throw invalidTrustProxy(hops)
  return hops
}

function trustedList(entries: readonly string[]): BlockList {
  if (!Array.isArray(entries)) throw invalidTrustProxy(entries)
  const trusted = new BlockList()
  for (const entry of entries) addEntry(trusted, entry)
  return trusted
}

function addEntry(trusted: BlockList, entry: unknown): void {
  const [text = '', prefix, ...rest] = String(entry).split('/')
  const address = canonicalAddress(text)
  if (address === undefined || rest.length > 0) throw invalidTrustProxy(entry)
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
  const longest = family === 'ipv6' ? 128 : 32
  // The prefix length of an IPv4-mapped range includes the 96 bits before the IPv4 address.
  const before = family === 'ipv4' && isIP(text) === 6 ? 96 : 0
  const bits = prefix === undefined ? longest : /^\d{1,3}$/.test(prefix) ? Number(prefix) - before : Number.NaN
  if (!(bits >= 0 && bits <= longest)) throw invalidTrustProxy(entry)
  trusted.addSubnet(address, bits, family)
}

function invalidTrustProxy(got: unknown): PetStoreError {
  return invalidOption('trustProxy', EXPECTED, got)
}
