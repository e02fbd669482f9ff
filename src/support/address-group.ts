const MAPPED_IPV4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i

/**
 * Returns the name under which a client address is counted. An IPv4 address is its own name. An IPv6 address is counted by its
 * prefix, because one client usually owns a whole prefix. An IPv4-mapped IPv6 address counts as IPv4 (RFC 4291, section 2.5.5.2).
 *
 * @param prefixLength - the length of an IPv6 prefix, in bits
 */
export function addressGroup(address: string, prefixLength: number): string {
  if (!address.includes(':')) return address
  const mapped = MAPPED_IPV4.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  const groups = ipv6Groups(address)
  if (groups === undefined) return address
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff) return ipv4Of(groups)
  const kept = groups.map((group, i) => group & ~(0xffff >> Math.min(16, Math.max(0, prefixLength - 16 * i))))
  return `${kept.map((group) => group.toString(16)).join(':')}/${prefixLength}`
}

function ipv4Of(groups: readonly number[]): string {
  return groups
    .slice(6)
    .flatMap((group) => [group >> 8, group & 255])
    .join('.')
}

/** Returns the eight 16-bit groups of an IPv6 address, or `undefined` for any other text. */
function ipv6Groups(address: string): number[] | undefined {
  const [text = ''] = address.split('%')
  const url = `http://[${text}]`
  if (!/^[\da-f:.]+$/i.test(text) || !URL.canParse(url)) return undefined
  // `URL` writes an IPv6 address in its shortest form, and an embedded IPv4 address in hexadecimal.
  const [before = [], after = []] = new URL(url).hostname.slice(1, -1).split('::').map(groupsOf)
  return [...before, ...Array(8 - before.length - after.length).fill(0), ...after]
}

function groupsOf(text: string): number[] {
  return text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16))
}
