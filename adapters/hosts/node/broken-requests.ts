import { type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { ErrorCode } from '../../../src/errors.ts'
import type { ApiResponse } from '../../../src/index.ts'
import { systemClock } from '../../../src/support/time.ts'

const CODES: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'request_header_fields_too_large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'payload_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
}

/** Responds to requests that Node's parser rejects. Node's own responses have no body. */
export function answerBrokenRequests(
  server: Server,
  latestOn: (socket: Socket) => ServerResponse | undefined,
  reject: (code: ErrorCode, socket: Socket) => ApiResponse,
): void {
  server.on('clientError', ({ code = '' }: NodeJS.ErrnoException, socket: Socket) => {
    const latest = latestOn(socket)
    // Otherwise, the head of a new request is broken.
    const isBodyBroken = latest?.req.complete === false
    // A client that has left reads no response.
    if (code === 'ECONNRESET' || code === 'HPE_INVALID_EOF_STATE') socket.destroy()
    // The client has its response, or still waits for an earlier one, whose place no other may take.
    else if (isBodyBroken && (latest.headersSent || latest.socket === null)) socket.destroySoon()
    // The connection still needs the response to an earlier request.
    else if (!isBodyBroken && latest?.destroyed === false) latest.shouldKeepAlive = false
    // Node emits `clientError` again for all data that arrives later.
    else if (socket.writable) writeLastResponse(socket, reject(CODES[code] ?? 'bad_request', socket))
  })
}

/** Milliseconds between a response and the close, so that a client that still sends can read it. */
const LINGER = 2_000

/** Writes the last response of a connection, for which there is no `ServerResponse`. */
function writeLastResponse(socket: Socket, { status, headers, body }: ApiResponse): void {
  const date = new Date(systemClock.now()).toUTCString()
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nDate: ${date}\r\n`
  for (let i = 0; i < headers.length; i += 2) head += `${headers[i]}: ${headers[i + 1]}\r\n`
  socket.end(`${head}Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`)
  setTimeout(() => socket.destroy(), LINGER).unref()
}
