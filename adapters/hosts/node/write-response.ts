import { OutgoingMessage, ServerResponse } from 'node:http'
import type { ApiResponse } from '../../../src/index.ts'
import { setLastRequest } from './pipelining.ts'
import type { NodeRequest } from './request.ts'
import type { NodeIncoming, NodeOutgoing } from './types.ts'
import { closesAmidBody, drain, isLastByHead, isSmallBody, isUnreadBody, readRest } from './unread-body.ts'

/** Writes the answer, and settles what becomes of a body that nobody has read. */
export function writeAnswer(
  incoming: NodeIncoming,
  outgoing: NodeOutgoing,
  request: NodeRequest,
  answer: ApiResponse,
): void {
  if (outgoing.headersSent || outgoing.destroyed) return
  const headers = withHostVary(withLength(request.method, answer), (name) => outgoing.getHeader(name))
  if (incoming.httpVersionMajor > 1) {
    writeStream(incoming, outgoing, headers, answer)
    return
  }
  if (isWatched(outgoing)) {
    setHeaders(outgoing, answer.status, headers)
    afterBody(incoming, outgoing, () => outgoing.end(answer.body))
    return
  }
  const isUnread = isUnreadBody(incoming)
  const isLast = isUnread && closesAmidBody(incoming, outgoing, request)
  outgoing.writeHead(answer.status, isLast ? [...headers, 'Connection', 'close'] : headers)
  if (isLast || (isUnread && !isSmallBody(incoming))) linger(incoming, outgoing, request, answer.body, isLast)
  else {
    send(outgoing, answer.body)
    if (isUnread) readRest(incoming, outgoing)
  }
}

const { end } = OutgoingMessage.prototype

/**
 * Hands the head and the body to the socket in one piece: `end(body)` would send an empty piece after them, and that
 * costs a tenth of a short answer. What plays the part of Node's may have no socket, and a host's own class may want to see
 * the body in `end`.
 */
function send(outgoing: NodeOutgoing, body: string): void {
  const { socket } = outgoing
  if (!socket?.uncork || !body || outgoing.end !== end) {
    outgoing.end(body)
    return
  }
  outgoing.write(body)
  socket.uncork()
  outgoing.end()
}

/** Where the host's answers vary already, ours vary by that as well; its other headers of the same names give way. */
export function withHostVary(headers: readonly string[], hostHeader: (name: string) => unknown): readonly string[] {
  const at = headers.indexOf('Vary') + 1
  const theirs = at === 0 ? undefined : hostHeader('vary')
  if (theirs === undefined) return headers
  const name = headers[at] as string
  const isNamed = String(theirs)
    .split(/[ \t]*,[ \t]*/)
    .some((known) => known === '*' || known.toLowerCase() === name.toLowerCase())
  return headers.with(at, isNamed ? String(theirs) : `${theirs}, ${name}`)
}

/**
 * Whether code of the host stands before the response's own functions, or in their place: some holds the body back until
 * its end, some takes headers by their names alone. What a host has put into Node's class itself is looked up as it is now.
 */
function isWatched(outgoing: NodeOutgoing): boolean {
  const { writeHead, write, end } = ServerResponse.prototype
  return outgoing.writeHead !== writeHead || outgoing.write !== write || outgoing.end !== end
}

/** An answer to HEAD says already how long the body is that is not there. */
function withLength(method: string, { status, headers, body }: ApiResponse): readonly string[] {
  if (method === 'HEAD' || status === 204) return headers
  return [...headers, 'Content-Length', String(Buffer.byteLength(body))]
}

function setHeaders(outgoing: NodeOutgoing, status: number, headers: readonly string[]): void {
  outgoing.statusCode = status
  for (let i = 0; i < headers.length; i += 2) outgoing.setHeader(headers[i] as string, headers[i + 1] as string)
}

/**
 * HTTP/2: what is left of the body is refused by closing the stream, some time after the answer is out. What of it comes is
 * read, as Node would count it against the memory of the session for good. Its response calls itself finished only when
 * the stream has closed.
 */
function writeStream(
  incoming: NodeIncoming,
  outgoing: NodeOutgoing,
  headers: readonly string[],
  answer: ApiResponse,
): void {
  setHeaders(outgoing, answer.status, headers)
  if (!incoming.complete) {
    const { stream } = outgoing
    incoming.resume()
    stream?.on('finish', () => drain(incoming, () => incoming.complete || stream.close()))
  }
  outgoing.end(answer.body)
}

/**
 * Sends the whole answer, then reads on for a while before it ends: a connection that is closed with bytes unread is
 * reset, and the client may lose the answer.
 */
function linger(
  incoming: NodeIncoming,
  outgoing: NodeOutgoing,
  request: NodeRequest,
  body: string,
  isLast: boolean,
): void {
  const onWritten = (error?: Error | null) => {
    request.isAnswered = !error
  }
  if (isLast) setLastRequest(incoming)
  if (body !== '') outgoing.write(body, onWritten)
  else {
    outgoing.flushHeaders?.()
    onWritten()
  }
  drain(incoming, () => {
    if (isLast || incoming.complete) outgoing.end('')
    else outgoing.destroy()
  })
}

/**
 * Ends an answer on whose way code of the host stands, which must see it whole and once. Where the connection stays, Node
 * reads the rest of the body after it; where it closes, the rest is read before.
 */
export function afterBody(incoming: NodeIncoming, outgoing: NodeOutgoing, end: () => unknown): void {
  const isUnread = isUnreadBody(incoming)
  if (isUnread && isLastByHead(incoming, outgoing)) {
    outgoing.shouldKeepAlive = false
    drain(incoming, () => {
      try {
        end()
      } catch {
        outgoing.destroy()
      }
    })
    return
  }
  if (isUnread) readRest(incoming, outgoing)
  end()
}
