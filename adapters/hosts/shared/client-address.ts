import { BlockList, isIP } from 'node:net'
import * as z from 'zod/mini'
import { expecting } from '../../../src/schemas/expected.ts'
import { listOf, textThat, wholeNumber } from '../../../src/schemas/options.ts'
import { parseOption } from '../../../src/schemas/parse-options.ts'
import { canonicalIpv6 } from '../../../src/support/ip-address.ts'

/**
 * The proxies whose entries in `X-Forwarded-For` or `Forwarded` are trusted.
 *
 * `false`: no proxy is trusted, and the IP address of the connection is used. A number: how many
 * proxies are in front of the server; each adds an address to the header. Use a number only
 * if every request passes the proxies: a client that reaches the server directly can choose its
 * address. A list is safer: the addresses and CIDR ranges of the proxies; the client is the first
 * address from the right that is not in the list.
 */
export type TrustProxy = false | number | readonly string[]

/** The headers in which proxies add addresses, in the spelling that `ApiRequest.header` takes. */
export const FORWARDED_FOR = 'x-forwarded-for'
export const FORWARDED = 'forwarded'

/**
 * How many entries of a header are read, from the right. Checking thousands of entries would take
 * milliseconds.
 */
const MAX_HOPS = 32

/** Finds the client from the address of the connection and the values of the two headers. */
export type AddressReader = (
  peer: string | undefined,
  forwardedFor: string | undefined,
  forwarded?: string,
) => string | undefined

/** @param onConflict - called if the two headers contradict each other */
export function addressReader(given: TrustProxy = false, onConflict = () => {}): AddressReader {
  const trusted = parseOption('trustProxy', trustProxy, given)
  if (trusted === false) return (peer) => canonicalAddress(peer)
  const proxies = typeof trusted === 'number' ? () => trusted : countTrusted(trusted)
  return (peer, forwardedFor, forwarded) => {
    const entries = forwardedEntries(forwardedFor, forwarded)
    if (entries === undefined) onConflict()
    // A client may have written one of two headers. Without an address of the connection, only the
    // more common header is left.
    const chain = [peer, ...(entries ?? (peer === undefined ? lastEntries(forwardedFor) : []))]
    const known = chain.slice(0, proxies(chain) + 1).map(canonicalAddress)
    // If a proxy adds an invalid entry, the proxy's own address is returned.
    return known.findLast((address) => address !== undefined)
  }
}

/** The addresses on the way to the server, as texts. The address nearest to the server comes first. */
type Chain = readonly (string | undefined)[]

/**
 * Returns the addresses that proxies have added. If both headers are there, they must agree as far
 * as both go; returns `undefined` if they contradict each other.
 */
function forwardedEntries(forwardedFor: string | undefined, forwarded: string | undefined): Chain | undefined {
  const common = lastEntries(forwardedFor)
  const standard = forwardedNodes(forwarded)
  const [shorter, longer] = common.length < standard.length ? [common, standard] : [standard, common]
  const agree = shorter.every((text, i) => canonicalAddress(text) === canonicalAddress(longer[i]))
  return agree ? longer : undefined
}

/** Returns the last entries of a header in reverse order, because each proxy appends one. */
function lastEntries(header = ''): readonly string[] {
  return header === '' ? [] : header.split(',').slice(-MAX_HOPS).reverse()
}

/** How much of `Forwarded` is read, from the right, in UTF-16 code units. */
const MAX_FORWARDED = 4_096

/** Matches the parameter `for` in an entry of `Forwarded` (RFC 7239, section 4). */
const FOR = /(?:^|;)[ \t]*for=("?)([^";\s]*)\1/i

/**
 * Returns the value of `for` of the last entries of `Forwarded`. A comma or semicolon in quotes, as
 * in the host that a client has sent, separates nothing. Quotes are counted from the right, where
 * the proxies write: the client may have left one open.
 */
function forwardedNodes(header = ''): Chain {
  const parts = header
    .slice(-MAX_FORWARDED)
    .replaceAll(/\\["\\]/g, '')
    .split('"')
  const isInQuotes = (i: number) => (parts.length - i) % 2 === 0
  const plain = parts.map((part, i) => (isInQuotes(i) ? part.replaceAll(/[,;]/g, ' ') : part)).join('"')
  return lastEntries(plain).map((entry) => FOR.exec(entry)?.[2])
}

/** An IP address or a CIDR range. */
const proxy = textThat((text) => subnetOf(text) !== undefined, 'an IP address or a CIDR range such as "10.0.0.0/8"')

export const trustProxy = z.union(
  [z.literal(false), wholeNumber(0), listOf(proxy, 'a list of addresses')],
  expecting('false, a number of proxies, or a list of addresses and CIDR ranges'),
)

function countTrusted(entries: readonly string[]): (chain: Chain) => number {
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
  return address !== undefined && trusted.check(address, familyOf(address))
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4'
}

/**
 * Returns an IP address in its canonical spelling, without port, zone and brackets. An IPv6 address
 * that stands for an IPv4 address becomes IPv4. Returns `undefined` for any other text.
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
  const family = familyOf(address)
  const longest = family === 'ipv6' ? 128 : 32
  // The prefix length of such an IPv6 range includes the 96 bits before the IPv4 address.
  const before = family === 'ipv4' && isIP(text) === 6 ? 96 : 0
  if (prefix === undefined) return [address, longest, family]
  const bits = Number(prefix) - before
  return /^\d{1,3}$/.test(prefix) && bits >= 0 && bits <= longest ? [address, bits, family] : undefined
}
