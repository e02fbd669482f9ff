import type { ApiResponse } from '../../src/index.ts'
import { rawHeader } from './headers.ts'
import type { NodeRequest } from './request.ts'
import type { NodeIncoming, NodeOutgoing } from './types.ts'

/** How much of an unwanted upload is read and thrown away, in bytes, so that the client gets to read the answer. */
const DRAINED_BYTES = 1_048_576
/** How long that may take, in milliseconds. */
const DRAIN_TIMEOUT = 2_000

/** Writes the answer, and settles what becomes of a body that nobody has read. */
export function writeAnswer(
  incoming: NodeIncoming,
  outgoing: NodeOutgoing,
  request: NodeRequest,
  answer: ApiResponse,
): void {
  if (outgoing.headersSent || outgoing.destroyed) return
  const headers = withLength(request.method, answer)
  const mustClose = isUnreadBody(incoming) && (request.awaitsContinue || !isSmallBody(incoming))
  if (outgoing.stream !== undefined) {
    writeStream(incoming, outgoing, headers, answer)
    return
  }
  writeHead(outgoing, answer.status, mustClose ? [...headers, 'Connection', 'close'] : headers)
  if (mustClose) linger(incoming, outgoing, request, answer.body)
  else outgoing.end(answer.body)
}

/** The length of an answer to HEAD would be that of the body which is not there, so it says none. */
function withLength(method: string, { status, headers, body }: ApiResponse): readonly string[] {
  if (method === 'HEAD' || status === 204) return headers
  return [...headers, 'Content-Length', String(Buffer.byteLength(body))]
}

/** In one piece where nobody stands between, or through `setHeader` where a middleware of the host watches the headers. */
function writeHead(outgoing: NodeOutgoing, status: number, headers: readonly string[]): void {
  if (!Object.hasOwn(outgoing, 'writeHead')) {
    outgoing.writeHead(status, headers)
    return
  }
  setHeaders(outgoing, status, headers)
}

function setHeaders(outgoing: NodeOutgoing, status: number, headers: readonly string[]): void {
  outgoing.statusCode = status
  for (let i = 0; i < headers.length; i += 2) outgoing.setHeader(headers[i] as string, headers[i + 1] as string)
}

/** HTTP/2: what is left of the body is refused by closing the stream, once the answer is out. */
function writeStream(
  incoming: NodeIncoming,
  outgoing: NodeOutgoing,
  headers: readonly string[],
  answer: ApiResponse,
): void {
  setHeaders(outgoing, answer.status, headers)
  if (!incoming.complete) outgoing.on('finish', () => outgoing.stream?.close())
  outgoing.end(answer.body)
}

function isUnreadBody({ complete, rawHeaders }: NodeIncoming): boolean {
  if (complete) return false
  return rawHeader(rawHeaders, 'transfer-encoding') !== undefined || declaredLength(rawHeaders) > 0
}

function declaredLength(rawHeaders: readonly string[]): number {
  return Number(rawHeader(rawHeaders, 'content-length') ?? 0)
}

/** A small body of known length: Node reads the rest of it by itself, and the connection stays. */
function isSmallBody({ rawHeaders }: NodeIncoming): boolean {
  return rawHeader(rawHeaders, 'transfer-encoding') === undefined && declaredLength(rawHeaders) <= DRAINED_BYTES
}

/**
 * Sends the whole answer, then reads on for a while before it closes: a connection that is closed with bytes unread is
 * reset, and the client may lose the answer.
 */
function linger(incoming: NodeIncoming, outgoing: NodeOutgoing, request: NodeRequest, body: string): void {
  const onWritten = (error?: Error | null) => {
    request.isAnswered = !error
  }
  if (body !== '') outgoing.write(body, onWritten)
  else {
    outgoing.flushHeaders?.()
    onWritten()
  }
  let left = DRAINED_BYTES
  const close = () => {
    clearTimeout(timer)
    outgoing.end()
  }
  const timer = setTimeout(close, DRAIN_TIMEOUT)
  timer.unref()
  incoming.on('data', (chunk: Uint8Array) => {
    left -= chunk.byteLength
    if (left < 0) close()
  })
  incoming.on('end', close)
  incoming.on('close', close)
}
