const LISTS = new Set(['link', 'set-cookie', 'vary', 'www-authenticate'])

/** Groups a list of alternating names and values by name. For headers that can have several values, adds the host's values. */
export function mergeHeaders(
  headers: readonly string[],
  hostHeader: (name: string) => unknown,
): [name: string, values: string | string[]][] {
  const groups = new Map<string, { readonly name: string; readonly values: string[] }>()
  for (let i = 0; i < headers.length; i += 2) {
    const [name, value] = [headers[i] as string, headers[i + 1] as string]
    const group = groups.get(name.toLowerCase())
    if (group) group.values.push(value)
    else groups.set(name.toLowerCase(), { name, values: [value] })
  }
  return [...groups].map(([lowerName, { name, values }]) => {
    const ofHost = LISTS.has(lowerName) ? [hostHeader(lowerName) ?? []].flat().map(String) : []
    const all = lowerName === 'vary' ? [varyOf([...ofHost, ...values])] : [...ofHost, ...values]
    return [name, all.length === 1 ? (all[0] as string) : all]
  })
}

/** Returns one `Vary` header without repetitions; `*` includes every name (RFC 9110, section 12.5.5). */
function varyOf(values: readonly string[]): string {
  const names = new Map<string, string>()
  for (const name of values.flatMap((value) => value.split(',')).map((text) => text.trim()))
    if (!names.has(name.toLowerCase())) names.set(name.toLowerCase(), name)
  return names.has('*') ? '*' : [...names.values()].join(', ')
}
