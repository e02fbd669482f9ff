import type { ErrorCode } from '../../../src/errors.ts'
import type { ApiRequest } from '../../../src/index.ts'
import { type AddressReader, FORWARDED_FOR } from '../shared/client-address.ts'
import type { HeaderReader } from './headers.ts'
import type { MountedTarget } from './mount-path.ts'
import { readBody } from './read-body.ts'
import { isHttp2, type NodeIncoming, type NodeOutgoing } from './types.ts'

/** How many headers of a request Node keeps by default (`server.maxHeadersCount`). Node drops the others. */
const MAX_HEADERS = 1_000

/** Headers, body and signal are read only when they are needed. */
export class NodeRequest implements ApiRequest {
  readonly method: string
  readonly target: string
  readonly mountPath: string
  readonly rejection: ErrorCode | undefined
  /** True after the whole response is written, even if the connection stays open until the rest of the request body is read. */
  isAnswered = false
  readonly incoming: NodeIncoming
  readonly outgoing: NodeOutgoing
  readonly #readAddress: AddressReader
  readonly #readHeader: HeaderReader
  /** The IP address of the connection. Read at the start, because a closed socket has none. */
  readonly #peer: string | undefined
  #abort: AbortController | undefined

  constructor(
    incoming: NodeIncoming,
    outgoing: NodeOutgoing,
    mounted: MountedTarget,
    readAddress: AddressReader,
    readHeader: HeaderReader,
    rejection?: ErrorCode,
  ) {
    this.method = incoming.method ?? 'GET'
    this.target = mounted.target
    this.mountPath = mounted.mountPath
    this.incoming = incoming
    this.outgoing = outgoing
    this.#readAddress = readAddress
    this.#readHeader = readHeader
    this.#peer = peerAddress(incoming)
    this.rejection = rejection
  }

  get clientAddress(): string | undefined {
    // If Node may have dropped headers, a proxy's entry may be missing. Then only the IP address of the connection is used.
    const { rawHeaders = [] } = this.incoming
    const isComplete = rawHeaders.length < 2 * MAX_HEADERS
    return this.#readAddress(this.#peer, isComplete ? this.header(FORWARDED_FOR) : undefined)
  }

  get signal(): AbortSignal {
    this.#abort ??= abortOnLeave(this)
    return this.#abort.signal
  }

  header(name: string): string | undefined {
    return this.#readHeader(this.incoming, name)
  }

  body(limit: number): Promise<Uint8Array> {
    return readBody(this.incoming, this.outgoing, limit)
  }
}

/** After an HTTP/2 session has closed, reading its socket throws. */
function peerAddress({ socket }: NodeIncoming): string | undefined {
  try {
    return socket?.remoteAddress
  } catch {
    return undefined
  }
}

/**
 * Aborts if the response closes before all of it was sent. The socket's error is checked too, because Node reports a response as
 * finished even if its last bytes could not be written.
 */
function abortOnLeave(request: NodeRequest): AbortController {
  const { incoming, outgoing } = request
  const controller = new AbortController()
  const isFinished = () => outgoing.writableFinished ?? outgoing.stream?.writableFinished
  // HTTP/2 sockets are not checked: many requests share a socket, and reading its properties may throw.
  const hasFailed = () => !isHttp2(incoming) && incoming.socket?.errored != null
  const onClose = () => {
    if (!request.isAnswered && (!isFinished() || hasFailed())) controller.abort()
  }
  if (isHttp2(incoming)) incoming.on('aborted', () => controller.abort())
  if (outgoing.destroyed) onClose()
  else outgoing.on('close', onClose)
  return controller
}
