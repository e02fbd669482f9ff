/** A response as a strict client reads it. */
export interface ReadResponse {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

const STATUS_LINE = /^HTTP\/1\.1 ([1-5]\d\d) [ -~]*$/
const FIELD_LINE = /^([!#$%&'*+.^`|~\w-]+): ([\t -~]*)$/

/**
 * Reads all bytes of a connection as responses to requests with these methods (RFC 9112, section 6.3). Interim responses are left out.
 *
 * @throws {Error} if the bytes are anything else than whole responses, or if a response follows one with `Connection: close`
 */
export function readResponses(text: string, methods: readonly string[]): ReadResponse[] {
  const responses: ReadResponse[] = []
  for (let rest = text; rest !== ''; ) {
    const end = rest.indexOf('\r\n\r\n')
    const [line = '', ...fields] = rest.slice(0, Math.max(0, end)).split('\r\n')
    const status = Number(STATUS_LINE.exec(line)?.[1])
    if (!status) throw new Error(`expected a response, got ${JSON.stringify(rest.slice(0, 200))}`)
    if (responses.at(-1)?.headers.get('connection') === 'close') throw new Error(`a response after the last: ${line}`)
    const headers = new Map(fields.map(readField))
    rest = rest.slice(end + 4)
    if (status < 200) continue
    const hasBody = methods[responses.length] !== 'HEAD' && status !== 204 && status !== 304
    const length = hasBody ? lengthOf(headers, rest) : 0
    responses.push({ status, headers, body: rest.slice(0, length) })
    rest = rest.slice(length)
  }
  return responses
}

function readField(line: string): [name: string, value: string] {
  const [, name, value] = FIELD_LINE.exec(line) ?? []
  if (name === undefined || value === undefined) throw new Error(`expected a header, got ${JSON.stringify(line)}`)
  return [name.toLowerCase(), value]
}

/** Returns the length of a body. Without `Content-Length`, the body ends with the connection. */
function lengthOf(headers: ReadonlyMap<string, string>, rest: string): number {
  if (headers.has('transfer-encoding')) throw new Error('expected no Transfer-Encoding')
  const length = Number(headers.get('content-length') ?? rest.length)
  if (length > rest.length) throw new Error(`expected a body of ${length} bytes, got ${rest.length}`)
  return length
}
