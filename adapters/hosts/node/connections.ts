import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { sleep, systemClock } from '../../../src/support/time.ts'

interface CloseOptions {
  readonly drainDelay?: number | undefined
  readonly closeTimeout?: number | undefined
}

/**
 * Tracks the connections of a server. After the first call of `close`, each connection closes after
 * its next response.
 */
export function trackConnections(server: Server, { drainDelay = 0, closeTimeout = 10_000 }: CloseOptions) {
  /** The open connections, each with its latest response. */
  const connections = new Map<Socket, ServerResponse | undefined>()
  let closed: Promise<void> | undefined
  server.on('connection', (socket: Socket) => {
    connections.set(socket, undefined)
    socket.on('close', () => connections.delete(socket))
  })
  // `server.close` calls this function. Node's own would cut off responses that a client still reads,
  // and requests that have arrived, but are not read yet.
  server.closeIdleConnections = async () => {
    // One turn is not enough: Node may have done the reads of this turn already.
    for (let turn = 0; turn < 2; turn++) await setImmediate()
    for (const [socket, response] of connections) {
      // Browsers open connections in advance, on which they send nothing.
      const isIdle = response === undefined ? socket.bytesRead === 0 : response.destroyed
      if (isIdle) socket.destroy()
      else response?.on('close', () => socket.destroySoon())
    }
  }
  const close = async () => {
    for (const response of connections.values()) if (response?.headersSent === false) response.shouldKeepAlive = false
    if (drainDelay > 0) {
      await sleep(drainDelay)
      await quietEventLoopTurn()
    }
    const timer = setTimeout(() => server.closeAllConnections(), closeTimeout)
    await new Promise((resolve) => server.close(resolve))
    clearTimeout(timer)
  }
  return {
    /** Call this for each request. */
    track(response: ServerResponse): void {
      connections.set(response.req.socket, response)
      if (closed) response.shouldKeepAlive = false
    },
    latestOn: (socket: Socket) => connections.get(socket),
    isClosing: () => closed !== undefined,
    close(): Promise<void> {
      closed ??= close()
      return closed
    },
  }
}

/**
 * Call this just before `server.close`. It waits for an event-loop turn in which Node has little to
 * do. Node accepts new connections at one moment of each turn, and the system resets those that
 * arrive between this moment and `server.close`: behind nginx, a request may be lost.
 */
async function quietEventLoopTurn(): Promise<void> {
  for (let turn = 0; turn < 100; turn++) {
    const begin = systemClock.monotonic()
    await setImmediate()
    if (systemClock.monotonic() - begin < 0.05) return
  }
}
