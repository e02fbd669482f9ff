import { type Server, ServerResponse } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { sleep, systemClock } from '../../../src/support/time.ts'
import type { NodeIncoming, NodeOutgoing } from './messages.ts'

const lastRequests = new WeakMap<object, NodeIncoming>()

/**
 * Records that the connection closes after the response to this request. Later requests on the
 * connection get no response. Clients may send them again, so they must not be processed (RFC 9112,
 * section 9.6).
 */
export function setLastRequest(incoming: NodeIncoming): void {
  if (incoming.socket) lastRequests.set(incoming.socket, incoming)
}

export function isAfterLastRequest(incoming: NodeIncoming): boolean {
  const { socket } = incoming
  const last = socket ? lastRequests.get(socket) : undefined
  return last !== undefined && last !== incoming
}

/** For each connection, the functions that let its waiting requests continue. */
const waiting = new WeakMap<Socket, Set<() => void>>()

/**
 * Waits until the earlier responses of the connection have been sent. Resolves to false if the
 * connection has closed. Returns `undefined` if there is nothing to wait for. Node emits pipelined
 * requests all at once; a request that is processed too early would not find an animal that an
 * earlier request creates (RFC 9112, section 9.3.2).
 */
export function waitForEarlierResponses(outgoing: NodeOutgoing): Promise<boolean> | undefined {
  if (!(outgoing instanceof ServerResponse) || outgoing.socket) return undefined
  const { socket } = outgoing.req
  if (socket.destroyed) return Promise.resolve(false)
  const others = waiting.get(socket) ?? watch(socket)
  socket.pause()
  return new Promise((resolve) => {
    const settle = () => {
      others.delete(settle)
      if (others.size === 0) socket.resume()
      resolve(!socket.destroyed)
    }
    others.add(settle)
    outgoing.on('socket', settle)
  })
}

/**
 * Keeps the socket paused while requests wait, although Node resumes it after each response.
 * Otherwise, a client that sends requests and reads no responses could fill the memory.
 */
function watch(socket: Socket): Set<() => void> {
  const settles = new Set<() => void>()
  waiting.set(socket, settles)
  socket.on('resume', () => {
    if (settles.size > 0) socket.pause()
  })
  socket.on('close', () => {
    for (const settle of settles) settle()
  })
  return settles
}

/**
 * How long the server still reads from a connection that it has ended, in milliseconds, and how
 * many bytes.
 */
const LINGER = 2_000
const DISCARDED_BYTES = 16_777_216

export type Connections = ReturnType<typeof trackConnections>

/**
 * Tracks the connections of a server. After the first call of `close`, each connection closes after
 * its next response.
 */
export function trackConnections(
  server: Server,
  { drainDelay = 0, closeTimeout = 10_000 }: { drainDelay?: number | undefined; closeTimeout?: number | undefined },
) {
  /**
   * For each open connection, its latest response and all earlier responses that are not yet
   * closed.
   */
  const running = new Map<Socket, ServerResponse[]>()
  /** The connections that have sent their last response, but whose clients have not ended them. */
  const ending = new Set<Socket>()
  let closed: Promise<void> | undefined
  server.on('connection', (socket: Socket) => {
    running.set(socket, [])
    socket.on('close', () => {
      running.delete(socket)
      ending.delete(socket)
    })
  })
  const endWith = (outgoing: ServerResponse) => {
    outgoing.shouldKeepAlive = false
    setLastRequest(outgoing.req)
    const { socket } = outgoing.req
    // Node calls this function after the last response of a connection.
    socket.destroySoon = () => {
      if (socket.destroyed) return
      ending.add(socket)
      endInStages(socket)
    }
  }
  const close = async () => {
    for (const responses of running.values()) {
      const last = responses.at(-1)
      // Sent headers cannot be changed: they say that the connection stays open, so the client may
      // send one more request.
      if (last?.headersSent === false) endWith(last)
    }
    if (drainDelay > 0) {
      await sleep(drainDelay)
      await quietEventLoopTurn()
    }
    const timer = setTimeout(() => server.closeAllConnections(), closeTimeout)
    await closeGently(server, running, ending)
    clearTimeout(timer)
  }
  return {
    close() {
      closed ??= close()
      return closed
    },
    isClosing: () => closed !== undefined,
    responsesOn: (socket: Socket): readonly ServerResponse[] => running.get(socket) ?? [],
    /**
     * Call this for each request. It also removes closed responses. A `close` listener for each
     * response could do that too, but it would add 7 % to the time of a request for a list.
     */
    track(outgoing: ServerResponse): void {
      const responses = running.get(outgoing.req.socket) ?? []
      // A connection closes its responses in order, so the closed ones are in front.
      while (responses[0]?.destroyed) responses.shift()
      responses.push(outgoing)
      if (closed && !isAfterLastRequest(outgoing.req)) endWith(outgoing)
    },
  }
}

/**
 * Waits until written responses are sent. `server.close` alone would cut them off: it treats their
 * connections as idle.
 */
async function closeGently(
  server: Server,
  running: ReadonlyMap<Socket, readonly ServerResponse[]>,
  ending: ReadonlySet<Socket>,
): Promise<void> {
  const closed = new Promise((resolve) => NetServer.prototype.close.call(server, resolve))
  let unsent: readonly (ServerResponse | Socket)[]
  // Repeats the wait, because other responses may be written during it.
  do {
    // Waits until Node has read all arrived data. One event-loop turn is not enough: Node may have
    // done the reads of this turn already.
    for (let i = 0; i < 2; i++) await nextEventLoopTurn()
    unsent = [...[...running.values()].flat().filter((one) => one.writableEnded && !one.destroyed), ...ending]
    await Promise.all(unsent.map((one) => new Promise((resolve) => one.on('close', resolve))))
  } while (unsent.length > 0)
  // Closes idle connections, and stops Node's interval that checks connections. The interval would
  // keep the server in memory.
  server.close()
  // Closes connections that have sent nothing yet. Browsers open them in advance, and Node does not
  // treat them as idle.
  for (const socket of running.keys()) if (socket.bytesRead === 0) socket.destroy()
  await closed
}

/**
 * Sends the end of a connection, and discards what the client still sends (RFC 9112, section 9.6).
 * A connection that closes with unread data is reset, and then a client that is still sending
 * requests can lose the last responses.
 */
function endInStages(socket: Socket): void {
  socket.end()
  // Later requests get no response, so Node does not need to parse them.
  socket.removeAllListeners('data')
  let discarded = 0
  socket.on('data', (chunk: Uint8Array) => {
    discarded += chunk.length
    if (discarded > DISCARDED_BYTES) socket.destroy()
  })
  socket.resume()
  const timer = setTimeout(() => socket.destroy(), LINGER).unref()
  socket.on('close', () => clearTimeout(timer))
}

/**
 * Call this just before `server.close`. It waits for an event-loop turn in which Node has little to
 * do, for at most 100 turns. Node accepts new connections at one moment of each turn. The system
 * resets those that arrive between this moment and the end of `server.close`, so this time must be
 * short: in busy turns, one request was lost in four restarts behind nginx.
 */
async function quietEventLoopTurn(): Promise<void> {
  for (let i = 0; i < 100; i++) {
    const begin = systemClock.monotonic()
    await nextEventLoopTurn()
    if (systemClock.monotonic() - begin < 0.05) return
  }
}

function nextEventLoopTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
