const MAPPED_IPV4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i
const MAPPED_IPV4_IN_HEX = /^::ffff:([\da-f]{1,4}):([\da-f]{1,4})$/

/**
 * Returns an IPv6 address in its shortest form, without zone; IPv4 for an IPv4-mapped address (RFC
 * 4291, section 2.5.5.2).
 */
export function canonicalIpv6(address: string): string | undefined {
  const mapped = MAPPED_IPV4.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  const [text = ''] = address.split('%')
  const url = `http://[${text}]`
  if (!/^[\da-f:.]+$/i.test(text) || !URL.canParse(url)) return undefined
  // `URL` writes an embedded IPv4 address in hexadecimal.
  const shortest = new URL(url).hostname.slice(1, -1)
  const halves = MAPPED_IPV4_IN_HEX.exec(shortest)?.slice(1).map(fromHex)
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
