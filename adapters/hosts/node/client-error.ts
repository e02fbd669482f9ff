import { type Server, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { type ErrorCode, PetStoreError } from '../../../src/errors.ts'
import type { ApiRequest, ApiResponse, PetStore } from '../../../src/index.ts'
import { systemClock } from '../../../src/support/time.ts'
import { errorResponseOf, unlessRejected } from '../shared/mounted-store.ts'
import type { Connections } from './connections.ts'

/**
 * Milliseconds between the response and the close. Without them, a client that is still sending
 * could lose the response.
 */
const LINGER = 2_000

const CODES: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'request_header_fields_too_large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'payload_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
}

/**
 * Responds to requests that Node's parser rejects. Node's own responses have no body and no
 * rate-limit headers.
 */
export function answerClientErrors(server: Server, { responsesOn }: Connections, petStore: PetStore): void {
  const rejected = new WeakSet<Socket>()

  async function rejectRequest(socket: Socket, code: ErrorCode): Promise<void> {
    const responses = responsesOn(socket)
    // The response of the rejected request, if its head was valid and only its body was rejected.
    const current = responses.find((one) => !one.req.complete)
    const earlier = responses.findLast((one) => !one.destroyed && one !== current)
    // Responses must be sent in the order of the requests, so the 4xx waits for earlier responses.
    if (earlier) {
      earlier.on('close', () => void rejectRequest(socket, code))
      return
    }
    const hasBegun = () => !socket.writable || current?.headersSent
    const message = hasBegun() ? '' : messageOf(await rejection(petStore, code, socket))
    // During `await`, the handler may have begun its own response. Then a second response must not
    // follow: only end the first.
    socket.end(hasBegun() ? '' : message)
    setTimeout(() => socket.destroy(), LINGER).unref()
  }

  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    // Node emits `clientError` again for all data that arrives later. One response is enough.
    if (rejected.has(socket)) return
    rejected.add(socket)
    // If the client has ended the connection in the middle of a request, or has reset it, nobody
    // would read a response.
    const hasLeft = error.code === 'HPE_INVALID_EOF_STATE' && responsesOn(socket).some((one) => !one.destroyed)
    if (hasLeft || error.code === 'ECONNRESET') socket.destroy()
    else void rejectRequest(socket, CODES[error.code ?? ''] ?? 'bad_request')
  })
}

/**
 * Returns the store's response to a rejected request, because only the store knows the values of
 * the rate-limit headers.
 */
async function rejection(petStore: PetStore, code: ErrorCode, socket: Socket): Promise<ApiResponse> {
  const request: ApiRequest = {
    method: '-',
    target: '-',
    clientAddress: socket.remoteAddress,
    rejection: code,
    header: () => undefined,
    body: () => Promise.reject(new PetStoreError(code)),
  }
  try {
    return unlessRejected(petStore, request, await petStore.handle(request))
  } catch {
    return errorResponseOf(petStore, code)
  }
}

function messageOf({ status, headers, body }: ApiResponse): string {
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`
  for (let i = 0; i < headers.length; i += 2) head += `${headers[i]}: ${headers[i + 1]}\r\n`
  const date = new Date(systemClock.now()).toUTCString()
  return `${head}Date: ${date}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`
}
