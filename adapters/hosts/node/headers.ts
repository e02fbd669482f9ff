import type { NodeIncoming } from './types.ts'

function nextHeader(rawHeaders: readonly string[], name: string, start: number): number {
  for (let i = start; i < rawHeaders.length; i += 2) {
    const field = rawHeaders[i] as string
    if (field.length === name.length && field.toLowerCase() === name) return i
  }
  return -1
}

/** Returns a header as the client sent it. Does not use Node's `headers`, which is slow and drops a second `Authorization`. */
export function sentHeader({ rawHeaders }: Pick<NodeIncoming, 'rawHeaders'>, name: string): string | undefined {
  let joined: string | undefined
  for (let i = nextHeader(rawHeaders, name, 0); i !== -1; i = nextHeader(rawHeaders, name, i + 2))
    joined = joined === undefined ? rawHeaders[i + 1] : `${joined}, ${rawHeaders[i + 1]}`
  return joined
}

/** Returns a header from Node's `headers` if other code has changed it there; otherwise, returns it as the client sent it. */
export function currentHeader(
  incoming: Pick<NodeIncoming, 'rawHeaders' | 'headers'>,
  name: string,
): string | undefined {
  const { rawHeaders, headers } = incoming
  const sent = sentHeader(incoming, name)
  const value = headers?.[name]
  const current = typeof value === 'object' ? value.join(', ') : value
  if (current === sent) return sent
  // Node's `headers` has only the first value of some headers. So if `current` is this value, nobody has changed it.
  const first = nextHeader(rawHeaders, name, 0)
  return first !== -1 && rawHeaders[first + 1] === current ? sent : current
}

export function declaredLength(incoming: Pick<NodeIncoming, 'rawHeaders'>): number {
  return Number(sentHeader(incoming, 'content-length') ?? 0)
}
