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
  const [head = '', tail, ...rest] = text.replace(/[\d.]+\.[\d.]+$/, hexOfIpv4).split('::')
  const before = groupsOf(head)
  const after = groupsOf(tail ?? '')
  const missing = 8 - before.length - after.length
  if (rest.length > 0 || (tail === undefined ? missing !== 0 : missing < 1)) return undefined
  const groups = [...before, ...Array.from({ length: missing }, () => 0), ...after]
  return groups.every((group) => group >= 0) ? groups : undefined
}

/** Returns the groups of one side of `::`; -1 stands for a group that is not hexadecimal. */
function groupsOf(text: string): number[] {
  if (text === '') return []
  return text.split(':').map((group) => (/^[\da-f]{1,4}$/i.test(group) ? Number.parseInt(group, 16) : -1))
}

/** Converts the IPv4 address at the end of an IPv6 address to hexadecimal: `192.0.2.1` to `c000:201`. */
function hexOfIpv4(text: string): string {
  const [a = 0, b = 0, c = 0, d = 0] = text.split('.').map(Number)
  return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`
}
