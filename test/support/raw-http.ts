import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { within } from './deadline.ts'

/** One answer as it came over the wire. */
export interface RawAnswer {
  readonly status: number
  /** By lower-case name; several of one name are joined by a comma and a space. */
  readonly headers: Readonly<Record<string, string>>
  /** In Latin-1: one character a byte. */
  readonly body: string
}

/** A connection whose every byte is the test's own. */
export interface RawConnection {
  readonly socket: Socket
  /** Writes bytes, text as Latin-1. Resolves when they are handed over, or the connection is gone. */
  send(bytes: string | Uint8Array): Promise<void>
  /** The next answer, interim ones included. That to HEAD has no body. */
  answer(method?: 'HEAD'): Promise<RawAnswer>
  /** Resolves when the server has ended the connection or reset it. */
  closed(): Promise<void>
  /** Leaves without a word. */
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
    answer: (method) => within(readAnswer(reader, method === 'HEAD'), 'answer'),
    closed: () => within(reader.ended, 'the end of the connection'),
    leave: () => socket.destroy(),
  }
}

/** Sends bytes over a connection of their own, and gives the one answer to them. */
export async function rawRequest(url: string, bytes: string | Uint8Array): Promise<RawAnswer> {
  const connection = await rawConnection(url)
  void connection.send(bytes)
  return connection.answer().finally(connection.leave)
}

interface BytesReader {
  readonly ended: Promise<void>
  /** What has come and was not taken, when it holds what is looked for. */
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

async function readAnswer(reader: BytesReader, isHead: boolean): Promise<RawAnswer> {
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

/** The service states every length; only Node's own refusals have an empty body in chunks, or none that ends before all. */
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
