import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { type ErrorCode, errorTable } from '../../../src/errors.ts'
import { errorResponse } from '../../../src/http/response.ts'
import { type ApiRequest, type ApiResponse, type PetStore, PetStoreError } from '../../../src/index.ts'
import { systemClock } from '../../../src/support/time.ts'
import { REQUEST_EVENTS, type Running } from './closing.ts'

/** How long the connection stays open after the response, in milliseconds, because a client may still be sending. */
const LINGER = 2_000

const CODES: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'request_header_fields_too_large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'payload_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
}

/** Responds to what Node's parser refuses. Node's own responses have neither a body nor rate-limit headers. */
export function answerClientErrors(server: Server, running: Running, petStore: PetStore): void {
  const refused = new WeakSet<Socket>()
  const latest = new WeakMap<Socket, ServerResponse>()
  for (const event of REQUEST_EVENTS)
    server.on(event, ({ socket }: IncomingMessage, outgoing: ServerResponse) => latest.set(socket, outgoing))

  async function refuse(socket: Socket, code: ErrorCode): Promise<void> {
    const last = latest.get(socket)
    /** The response to the request that the parser refused, if the head of this request was valid. */
    const current = last?.req.complete === false ? last : undefined
    const earlier = [...(running.get(socket) ?? [])].filter((one) => one !== current).at(-1)
    // A pipelined request is refused after the responses to the requests before it.
    if (earlier) return void earlier.on('close', () => void refuse(socket, code))
    const hasBegun = () => !socket.writable || current?.headersSent
    const message = hasBegun() ? '' : messageOf(await refusal(petStore, code, socket))
    // The response may have begun during `await`. `end` sends the rest of it, and no second response.
    socket.end(hasBegun() ? '' : message)
    const timer = setTimeout(() => socket.destroy(), LINGER)
    socket.on('close', () => clearTimeout(timer))
  }

  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    // Node emits the event again for everything that arrives later.
    if (refused.has(socket)) return
    refused.add(socket)
    // A client that ends the connection amid a request has left, as Node sees it too. Others may still read a response.
    const hasLeft = error.code === 'HPE_INVALID_EOF_STATE' && Boolean(running.get(socket)?.size)
    if (hasLeft || error.code === 'ECONNRESET') socket.destroy()
    else void refuse(socket, CODES[error.code ?? ''] ?? 'bad_request')
  })
}

/** Returns a function for headers that makes the store respond with an error: the store reads `Authorization` first. */
export function refusing(code: ErrorCode): (name: string) => undefined {
  return (name) => {
    if (name === 'authorization') throw new PetStoreError(code)
  }
}

/** Returns the store's response to a request that cannot be read, with the headers of every response. */
async function refusal(petStore: PetStore, code: ErrorCode, socket: Socket): Promise<ApiResponse> {
  const request: ApiRequest = {
    method: '-',
    target: '-',
    clientAddress: socket.remoteAddress,
    header: refusing(code),
    body: () => Promise.reject(new PetStoreError(code)),
  }
  const response = await petStore.handle(request).catch(() => undefined)
  // Code that wraps `handle` may respond without reading the header.
  return response?.status === errorTable[code].status ? response : errorResponse(code)
}

function messageOf({ status, headers, body }: ApiResponse): string {
  const length = String(Buffer.byteLength(body))
  const all = [
    ...headers,
    'Date',
    new Date(systemClock.now()).toUTCString(),
    'Content-Length',
    length,
    'Connection',
    'close',
  ]
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`
  for (let i = 0; i < all.length; i += 2) head += `${all[i]}: ${all[i + 1]}\r\n`
  return `${head}\r\n${body}`
}
