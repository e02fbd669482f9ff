/** The value of a header by its lower-case name, several joined by a comma and a space, from names and values by turns. */
export function rawHeader(rawHeaders: readonly string[], name: string): string | undefined {
  let joined: string | undefined
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const field = rawHeaders[i] as string
    if (field.length !== name.length || field.toLowerCase() !== name) continue
    joined = joined === undefined ? rawHeaders[i + 1] : `${joined}, ${rawHeaders[i + 1]}`
  }
  return joined
}

/** The length that a head gives its body, in bytes: 0 where it speaks of none. */
export function declaredLength(rawHeaders: readonly string[]): number {
  return Number(rawHeader(rawHeaders, 'content-length') ?? 0)
}
