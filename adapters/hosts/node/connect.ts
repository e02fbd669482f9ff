import { type IncomingMessage, type Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Running } from './closing.ts'

/**
 * Answers CONNECT, for which Node hands over the bare socket at once, even while earlier requests on it still run.
 *
 * @param running - the responses of each connection that are not yet sent
 */
export function answerConnect(
  server: Server,
  running: Running,
  answer: (incoming: IncomingMessage, outgoing: ServerResponse) => void,
): void {
  server.on('connect', (incoming: IncomingMessage) => {
    const { socket } = incoming
    // Node has taken its own listeners off it.
    for (const event of ['error', 'timeout']) socket.on(event, () => socket.destroy())
    const respond = () => {
      if (socket.writable) answer(incoming, lastResponse(incoming, socket))
    }
    const earlier = [...(running.get(socket) ?? [])].at(-1)
    if (earlier === undefined) respond()
    else earlier.on('close', respond)
  })
}

/** No timer of the server watches such a socket any more, so it is not left to the client to close it. */
function lastResponse(incoming: IncomingMessage, socket: Socket): ServerResponse {
  const outgoing = new ServerResponse(incoming)
  outgoing.shouldKeepAlive = false
  outgoing.assignSocket(socket)
  outgoing.on('finish', () => socket.destroySoon())
  return outgoing
}
