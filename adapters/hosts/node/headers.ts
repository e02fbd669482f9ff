/** Where in names and values by turns the next header of a lower-case name stands, or -1. */
function nextHeader(rawHeaders: readonly string[], name: string, start: number): number {
  for (let i = start; i < rawHeaders.length; i += 2) {
    const field = rawHeaders[i] as string
    if (field.length === name.length && field.toLowerCase() === name) return i
  }
  return -1
}

/** The value of a header, several joined by a comma and a space. */
function rawHeader(rawHeaders: readonly string[], name: string): string | undefined {
  let joined: string | undefined
  for (let i = nextHeader(rawHeaders, name, 0); i !== -1; i = nextHeader(rawHeaders, name, i + 2))
    joined = joined === undefined ? rawHeaders[i + 1] : `${joined}, ${rawHeaders[i + 1]}`
  return joined
}

/** The headers of a request. What plays the part of Node's in tests and on serverless hosts has but an object of them. */
export interface Head {
  readonly rawHeaders?: readonly string[] | undefined
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>> | undefined
}

/**
 * The value of a header as the client sent it, from the raw headers: Node's own object drops a second Authorization without
 * a word, and is slow to make.
 */
export function sentHeader({ rawHeaders, headers }: Head, name: string): string | undefined {
  return rawHeaders?.length ? rawHeader(rawHeaders, name) : told(headers?.[name])
}

/** The same, but where code of the host has added, changed or removed the header, what it says. */
export function heededHeader(head: Head, name: string): string | undefined {
  const sent = sentHeader(head, name)
  const now = told(head.headers?.[name])
  return now === sent || isFirstOfMany(now, name, head.rawHeaders) ? sent : now
}

/** Of a doubled header that Node's object has but once, it tells the first. */
function isFirstOfMany(now: string | undefined, name: string, rawHeaders: readonly string[] = []): boolean {
  const first = nextHeader(rawHeaders, name, 0)
  return first !== -1 && rawHeaders[first + 1] === now && nextHeader(rawHeaders, name, first + 2) !== -1
}

function told(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'object' ? value.join(', ') : value
}

/** The length that a head gives its body, in bytes: 0 where it speaks of none. */
export function declaredLength(head: Head): number {
  return Number(sentHeader(head, 'content-length') ?? 0)
}
