import { isUrl } from './text.ts'

/** Matches the most frequent form: a server that listens on `::` sees each IPv4 client like this. */
const MAPPED_IPV4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i
/**
 * Matches IPv6 addresses that stand for an IPv4 address, in the form that `URL` writes: mapped (RFC
 * 4291, section 2.5.5.2), translated (RFC 2765, section 2.1), and of NAT64 (RFC 6052, section 2.1).
 */
const EMBEDDED_IPV4 = /^(?:::ffff:(?:0:)?|64:ff9b::)([\da-f]{1,4}):([\da-f]{1,4})$/

/**
 * Returns an IPv6 address in its shortest form, without zone, or the IPv4 address for which it
 * stands. Returns `undefined` for any other text.
 */
export function canonicalIpv6(address: string): string | undefined {
  const mapped = MAPPED_IPV4.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  const [text = ''] = address.split('%')
  const url = `http://[${text}]`
  if (!/^[\da-f:.]+$/i.test(text) || !isUrl(url)) return undefined
  const shortest = new URL(url).hostname.slice(1, -1)
  const halves = EMBEDDED_IPV4.exec(shortest)?.slice(1).map(fromHex)
  return halves?.flatMap((half) => [half >> 8, half & 255]).join('.') ?? shortest
}

/** Matches an IPv4 address with a port, or an IPv6 address in brackets. */
const WITH_PORT = /^(?:(\d+\.[\d.]+):\d+|\[([^\]]*)\](?::\d+)?)$/

/**
 * Returns an IPv4 address without port, or an IPv6 prefix. A client may use many ports, and all
 * addresses of its IPv6 prefix.
 */
export function addressGroup(address: string, prefixLength: number): string {
  if (!address.includes(':')) return address
  const [, ipv4, ipv6 = address] = WITH_PORT.exec(address) ?? []
  if (ipv4 !== undefined) return ipv4
  const canonical = canonicalIpv6(ipv6)
  if (!canonical?.includes(':')) return canonical ?? address
  const [before = [], after = []] = canonical.split('::').map(groupsOf)
  const groups = [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after]
  const kept = groups.map((group, i) => group & ~(0xffff >> Math.min(16, Math.max(0, prefixLength - 16 * i))))
  return `${kept.map((group) => group.toString(16)).join(':')}/${prefixLength}`
}

function groupsOf(text: string): number[] {
  return text === '' ? [] : text.split(':').map(fromHex)
}

function fromHex(text: string): number {
  return Number.parseInt(text, 16)
}
