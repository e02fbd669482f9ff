import type { NodeIncoming } from './messages.ts'

type HeaderSource = Pick<NodeIncoming, 'rawHeaders' | 'headers'>

/** Returns a header by its lower-case name. Several values are joined by a comma and a space. */
export type HeaderReader = (incoming: HeaderSource, name: string) => string | undefined

function nextHeader(rawHeaders: readonly string[], name: string, start: number): number {
  for (let i = start; i < rawHeaders.length; i += 2) {
    const field = rawHeaders[i] as string
    if (field.length === name.length && field.toLowerCase() === name) return i
  }
  return -1
}

/** Returns a header of Node's `headers`, which other code may have changed, for example to a number. */
function parsedHeader({ headers }: HeaderSource, name: string): string | undefined {
  const value = headers?.[name] ?? undefined
  return Array.isArray(value) ? value.join(', ') : value?.toString()
}

/**
 * Returns a header as the client sent it. Does not use Node's `headers`, which is slow and drops a second `Authorization`, unless
 * the host has built the request itself without `rawHeaders`, as serverless-http and node-mocks-http do.
 */
export function sentHeader(incoming: HeaderSource, name: string): string | undefined {
  const { rawHeaders } = incoming
  if (!rawHeaders?.length) return parsedHeader(incoming, name)
  let joined: string | undefined
  for (let i = nextHeader(rawHeaders, name, 0); i !== -1; i = nextHeader(rawHeaders, name, i + 2))
    joined = joined === undefined ? rawHeaders[i + 1] : `${joined}, ${rawHeaders[i + 1]}`
  return joined
}

/** Returns a header from Node's `headers` if other code has changed it there; otherwise, returns it as the client sent it. */
export function currentHeader(incoming: HeaderSource, name: string): string | undefined {
  const sent = sentHeader(incoming, name)
  const current = parsedHeader(incoming, name)
  if (current === sent) return sent
  // Node's `headers` has only the first value of some headers. So if `current` is this value, nobody has changed it.
  const { rawHeaders = [] } = incoming
  const first = nextHeader(rawHeaders, name, 0)
  return first !== -1 && rawHeaders[first + 1] === current ? sent : current
}

export function declaredLength(incoming: HeaderSource): number {
  return Number(sentHeader(incoming, 'content-length') ?? 0)
}
