import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { within } from './deadline.ts'

/** One response as it was received. */
export interface RawResponse {
  readonly status: number
  /** The headers by lower-case name. Values of repeated headers are joined by a comma and a space. */
  readonly headers: Readonly<Record<string, string>>
  /** The body decoded as Latin-1: one character per byte. */
  readonly body: string
}

/** A connection to which the test writes raw bytes. */
export interface RawConnection {
  readonly socket: Socket
  /** Writes bytes, or text as Latin-1. Resolves when they are written or the connection has closed. */
  send(bytes: string | Uint8Array): Promise<void>
  /** Reads the next response, including interim responses such as 100. Pass `HEAD` if the request was HEAD: no body is read. */
  answer(method?: 'HEAD'): Promise<RawResponse>
  /** Resolves when the server has closed or reset the connection. */
  closed(): Promise<void>
  /** Closes the connection at once. */
  leave(): void
}

/** Opens a connection to a server on this machine. */
export async function rawConnection(url: string): Promise<RawConnection> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), noDelay: true })
  await within(once(socket, 'connect'), 'connect')
  const reader = bytesReader(socket)
  return {
    socket,
    send: (bytes) =>
      new Promise((resolve) => {
        if (socket.destroyed) resolve()
        else socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes, () => resolve())
      }),
    answer: (method) => within(readResponse(reader, method === 'HEAD'), 'response'),
    closed: () => within(reader.ended, 'the end of the connection'),
    leave: () => socket.destroy(),
  }
}

/** Sends bytes over a new connection and returns the response. */
export async function rawRequest(url: string, bytes: string | Uint8Array): Promise<RawResponse> {
  const connection = await rawConnection(url)
  void connection.send(bytes)
  return connection.answer().finally(connection.leave)
}

interface BytesReader {
  readonly ended: Promise<void>
  /** Waits until `isEnough` accepts the unread text, and returns this text. */
  until(isEnough: (text: string) => boolean): Promise<string>
  take(length: number): void
}

function bytesReader(socket: Socket): BytesReader {
  let chunks = ''
  let isOver = false
  let wake = () => {}
  socket.on('data', (chunk) => {
    chunks += chunk.toString('latin1')
    wake()
  })
  const ended = new Promise<void>((resolve) => {
    const end = () => {
      isOver = true
      resolve()
      wake()
    }
    socket.on('error', end).on('end', end).on('close', end)
  })
  return {
    ended,
    take: (length) => {
      chunks = chunks.slice(length)
    },
    async until(isEnough) {
      while (!isEnough(chunks)) {
        if (isOver) throw new Error(`the connection ended after ${JSON.stringify(chunks.slice(0, 200))}`)
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      return chunks
    },
  }
}

async function readResponse(reader: BytesReader, isHead: boolean): Promise<RawResponse> {
  const text = await reader.until((text) => text.includes('\r\n\r\n'))
  const head = text.slice(0, text.indexOf('\r\n\r\n'))
  reader.take(head.length + 4)
  const [statusLine = '', ...lines] = head.split('\r\n')
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(statusLine)?.[1])
  const headers = readHeaders(lines)
  if (isHead || status < 200 || status === 204) return { status, headers, body: '' }
  return { status, headers, body: await readBody(reader, headers) }
}

function readHeaders(lines: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const line of lines) {
    const [, name = '', value = ''] = /^([^:]+): ?(.*)$/.exec(line) ?? []
    const known = headers[name.toLowerCase()]
    headers[name.toLowerCase()] = known === undefined ? value : `${known}, ${value}`
  }
  return headers
}

/** Reads a body by its Content-Length, which the store sends. Errors of Node itself have an empty chunked body or no body. */
async function readBody(reader: BytesReader, headers: Readonly<Record<string, string>>): Promise<string> {
  if (headers['transfer-encoding'] === 'chunked') {
    await reader.until((text) => text.includes('0\r\n\r\n'))
    reader.take(5)
    return ''
  }
  const length = Number(headers['content-length'] ?? 0)
  const body = (await reader.until((text) => text.length >= length)).slice(0, length)
  reader.take(length)
  return body
}
