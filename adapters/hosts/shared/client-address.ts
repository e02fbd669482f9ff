import { BlockList, isIP } from 'node:net'
import { canonicalIpv6 } from '../../../src/support/ip-address.ts'
import { invalidOption, isPositiveInteger, type OptionRule } from '../../../src/support/option-rules.ts'

/**
 * Which proxies to trust for the client's IP address.
 *
 * `false`: no proxy is trusted, and the IP address of the connection is used. A number: how many proxies are in front of the
 * server; each adds an address to `X-Forwarded-For`. Use a number only if every request passes the proxies: a client that reaches
 * the server directly can choose its address. A list is safer: the addresses and CIDR ranges of the proxies; the client is the
 * first address from the right that is not in the list.
 */
export type TrustProxy = false | number | readonly string[]

/** The header with the addresses that proxies have added, in the spelling that `ApiRequest.header` takes. */
export const FORWARDED_FOR = 'x-forwarded-for'

export type AddressReader = (peer: string | undefined, forwardedFor: string | undefined) => string | undefined

export function addressReader(trustProxy: TrustProxy = false): AddressReader {
  if (!trustProxyRule.check(trustProxy)) throw invalidOption('trustProxy', EXPECTED, trustProxy)
  if (trustProxy === false) return (peer) => canonicalAddress(peer)
  const proxies = typeof trustProxy === 'number' ? () => trustProxy : countTrusted(trustProxy)
  return (peer, forwardedFor) => {
    // Reversed, because each proxy appends an address: the address nearest to the server comes first.
    const chain = [peer, ...(forwardedFor ? forwardedFor.split(',').reverse() : [])]
    const known = chain.slice(0, proxies(chain) + 1).map(canonicalAddress)
    // If a proxy adds an invalid entry, the proxy's own address is returned.
    return known.findLast((address) => address !== undefined)
  }
}

const EXPECTED = 'false, a number of proxies, or a list of addresses and CIDR ranges'

/** Does not check the entries of a list, because `addressReader` checks them. */
export const trustProxyRule: OptionRule = {
  expected: EXPECTED,
  check: (value) => value === false || value === 0 || isPositiveInteger(value) || Array.isArray(value),
}

function countTrusted(entries: readonly string[]): (chain: readonly (string | undefined)[]) => number {
  const trusted = new BlockList()
  for (const entry of entries) addEntry(trusted, entry)
  return (chain) => {
    const client = chain.findIndex((text) => !isTrusted(trusted, text))
    return client === -1 ? chain.length : client
  }
}

function isTrusted(trusted: BlockList, text: string | undefined): boolean {
  const address = canonicalAddress(text)
  return address !== undefined && trusted.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
}

/**
 * Returns an IP address in its canonical spelling, without port, zone and brackets. An IPv4-mapped IPv6 address becomes IPv4.
 * Returns `undefined` for any other text.
 */
export function canonicalAddress(text = ''): string | undefined {
  if (isIP(text) === 4) return text
  const bare = text
    .trim()
    .replace(/^\[([^\]]*)\](?::\d+)?$/, '$1')
    .replace(/^([\d.]+):\d+$/, '$1')
  const version = isIP(bare)
  return version === 6 ? canonicalIpv6(bare) : version === 4 ? bare : undefined
}

function addEntry(trusted: BlockList, entry: unknown): void {
  const [text = '', prefix, ...rest] = String(entry).split('/')
  const address = canonicalAddress(text)
  if (address === undefined || rest.length > 0) throw invalidOption('trustProxy', EXPECTED, entry)
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
  const longest = family === 'ipv6' ? 128 : 32
  // The prefix length of an IPv4-mapped range includes the 96 bits before the IPv4 address.
  const before = family === 'ipv4' && isIP(text) === 6 ? 96 : 0
  const bits = prefix === undefined ? longest : /^\d{1,3}$/.test(prefix) ? Number(prefix) - before : Number.NaN
  if (!(bits >= 0 && bits <= longest)) throw invalidOption('trustProxy', EXPECTED, entry)
  trusted.addSubnet(address, bits, family)
}
