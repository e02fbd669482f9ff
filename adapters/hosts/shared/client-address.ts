import { BlockList, isIP } from 'node:net'
import * as z from 'zod/mini'
import { expecting } from '../../../src/schemas/expected.ts'
import { listOf, textThat, wholeNumber } from '../../../src/schemas/options.ts'
import { parseOption } from '../../../src/schemas/parse-options.ts'
import { canonicalIpv6 } from '../../../src/support/ip-address.ts'

/**
 * The proxies whose entries in `X-Forwarded-For` are trusted.
 *
 * `false`: no proxy is trusted, and the IP address of the connection is used. A number: how many
 * proxies are in front of the server; each adds an address to `X-Forwarded-For`. Use a number only
 * if every request passes the proxies: a client that reaches the server directly can choose its
 * address. A list is safer: the addresses and CIDR ranges of the proxies; the client is the first
 * address from the right that is not in the list.
 */
export type TrustProxy = false | number | readonly string[]

/**
 * The header with the addresses that proxies have added, in the spelling that `ApiRequest.header`
 * takes.
 */
export const FORWARDED_FOR = 'x-forwarded-for'

/**
 * How many entries of `X-Forwarded-For` are read, from the right. Checking thousands of entries
 * would take milliseconds.
 */
const MAX_HOPS = 32

export type AddressReader = (peer: string | undefined, forwardedFor: string | undefined) => string | undefined

export function addressReader(given: TrustProxy = false): AddressReader {
  const trusted = parseOption('trustProxy', trustProxy, given)
  if (trusted === false) return (peer) => canonicalAddress(peer)
  const proxies = typeof trusted === 'number' ? () => trusted : countTrusted(trusted)
  return (peer, forwardedFor) => {
    // Reversed, because each proxy appends an address: the address nearest to the server comes
    // first.
    const chain = [peer, ...(forwardedFor ? forwardedFor.split(',').reverse().slice(0, MAX_HOPS) : [])]
    const known = chain.slice(0, proxies(chain) + 1).map(canonicalAddress)
    // If a proxy adds an invalid entry, the proxy's own address is returned.
    return known.findLast((address) => address !== undefined)
  }
}

/** An IP address or a CIDR range. */
const proxy = textThat((text) => subnetOf(text) !== undefined, 'an IP address or a CIDR range such as "10.0.0.0/8"')

export const trustProxy = z.union(
  [z.literal(false), wholeNumber(0), listOf(proxy, 'a list of addresses')],
  expecting('false, a number of proxies, or a list of addresses and CIDR ranges'),
)

function countTrusted(entries: readonly string[]): (chain: readonly (string | undefined)[]) => number {
  const trusted = new BlockList()
  for (const entry of entries) {
    const subnet = subnetOf(entry)
    if (subnet) trusted.addSubnet(...subnet)
  }
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
 * Returns an IP address in its canonical spelling, without port, zone and brackets. An IPv4-mapped
 * IPv6 address becomes IPv4. Returns `undefined` for any other text.
 */
export function canonicalAddress(text = ''): string | undefined {
  if (isIP(text) === 4) return text
  const bare = text
    .trim()
    .replace(/^\[([^\]]*)\](?::\d+)?$/, '$1')
    .replace(/^([\d.]+):\d+$/, '$1')
  if (isIP(bare) === 6) return canonicalIpv6(bare)
  return isIP(bare) === 4 ? bare : undefined
}

/**
 * Returns the arguments of `BlockList.addSubnet`; `undefined` for a text that is neither an address
 * nor a CIDR range.
 */
function subnetOf(entry: string): [address: string, bits: number, family: 'ipv4' | 'ipv6'] | undefined {
  const [text = '', prefix, ...rest] = entry.split('/')
  const address = canonicalAddress(text)
  if (address === undefined || rest.length > 0) return undefined
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
  const longest = family === 'ipv6' ? 128 : 32
  // The prefix length of an IPv4-mapped range includes the 96 bits before the IPv4 address.
  const before = family === 'ipv4' && isIP(text) === 6 ? 96 : 0
  if (prefix === undefined) return [address, longest, family]
  const bits = Number(prefix) - before
  return /^\d{1,3}$/.test(prefix) && bits >= 0 && bits <= longest ? [address, bits, family] : undefined
}
