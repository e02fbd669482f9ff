import { request as nodeRequest } from 'node:http'
import { connect, type Socket } from 'node:net'

/** The parts of a request that a rule of the suite sets. */
export interface Sent {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** Whether to send the body in chunks, without a Content-Length. */
  readonly chunked?: boolean
}

/** A response. */
export interface Received {
  readonly status: number
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>
  /** The names of headers that occur more than once. */
  readonly doubled: readonly string[]
  readonly body: string
  readonly bytes: Uint8Array
}

/** Sends one request to a target, such as `/v1/pets?limit=2`, and reads the whole response. */
export type Send = (target: string, sent?: Sent) => Promise<Received>

/** How long to wait for a host that hangs, in milliseconds. */
const PATIENCE = 300_000

/** Returns a function that sends each request on a new socket. */
export function socketClient(port: number, host = '127.0.0.1'): Send {
  return (target, { method = 'GET', headers = {}, body, chunked = false } = {}) =>
    new Promise((resolve, reject) => {
      const request = nodeRequest({ host, port, path: target, method, headers, agent: false, timeout: PATIENCE })
      request.on('timeout', () => request.destroy(new Error(`${method} ${target}: no response`)))
      request.on('error', reject)
      request.on('response', (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () =>
          resolve(received(response.statusCode ?? 0, pairs(response.rawHeaders), Buffer.concat(chunks))),
        )
      })
      if (body === undefined || !chunked) request.end(body)
      else {
        request.flushHeaders()
        const bytes = Buffer.from(body)
        request.write(bytes.subarray(0, bytes.length / 2))
        request.end(bytes.subarray(bytes.length / 2))
      }
    })
}

/** Returns a function that passes each request to a fetch function in this process. */
export function fetchClient(fetch: (request: Request) => Promise<Response>): Send {
  return async (target, { method = 'GET', headers = {}, body, chunked = false } = {}) => {
    const stream = chunked
      ? new Blob([Buffer.from(body ?? '')]).stream()
      : body === undefined
        ? null
        : Buffer.from(body)
    const init = { method, headers, body: stream, duplex: 'half' }
    const response = await fetch(new Request(`http://localhost${target}`, init))
    return received(response.status, [...response.headers], new Uint8Array(await response.arrayBuffer()))
  }
}

function pairs(raw: readonly string[]): [string, string][] {
  return raw.flatMap((name, index) => (index % 2 === 0 ? [[name, raw[index + 1] ?? '']] : []))
}

function received(status: number, headers: readonly (readonly [string, string])[], bytes: Uint8Array): Received {
  const names = headers.map(([name]) => name.toLowerCase())
  return {
    status,
    headers: Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value])),
    doubled: names.filter((name, index) => names.indexOf(name) !== index),
    body: new TextDecoder().decode(bytes),
    bytes,
  }
}

/** A connection on which a rule of the suite sends raw bytes. */
export class Wire {
  readonly socket: Socket
  readonly #patience: number
  #text = ''

  /** `patience` is how long to wait for the host, in milliseconds. */
  constructor(port: number, patience = PATIENCE) {
    this.socket = connect(port, '127.0.0.1')
    this.#patience = patience
    this.socket.setEncoding('latin1')
    this.socket.on('data', (text) => {
      this.#text += text
    })
    this.socket.on('error', () => {})
  }

  write(text: string): void {
    this.socket.write(text, 'latin1')
  }

  /** Waits until the received text matches, and removes the match. */
  async take(pattern: RegExp): Promise<RegExpExecArray> {
    const deadline = AbortSignal.timeout(this.#patience)
    for (;;) {
      const match = pattern.exec(this.#text)
      if (match !== null) {
        this.#text = this.#text.slice(match.index + match[0].length)
        return match
      }
      if (this.socket.destroyed) throw new Error(`the connection ended, after ${JSON.stringify(this.#text)}`)
      await change(this.socket, deadline, () => `no ${pattern} came, but ${JSON.stringify(this.#text)}`)
    }
  }

  /** Waits for one whole response, with a Content-Length or in chunks. */
  async response(): Promise<{ status: number; head: string; body: string }> {
    const [head, status] = await this.take(/HTTP\/1\.1 (\d+)[\s\S]*?\r\n\r\n/)
    const isChunked = /transfer-encoding: chunked/i.test(head)
    const body = isChunked ? await this.#chunks() : await this.#bytes(/content-length: (\d+)/i.exec(head)?.[1] ?? '0')
    return { status: Number(status), head, body }
  }

  async #bytes(length: string | number): Promise<string> {
    const [bytes] = await this.take(new RegExp(`^[\\s\\S]{${length}}`))
    return bytes
  }

  async #chunks(): Promise<string> {
    let body = ''
    for (;;) {
      const [, size = '0'] = await this.take(/^([\da-fA-F]+)\r\n/)
      const chunk = await this.#bytes(Number.parseInt(size, 16) + 2)
      if (chunk === '\r\n') return body
      body += chunk.slice(0, -2)
    }
  }

  close(): void {
    this.socket.destroy()
  }
}

function change(socket: Socket, deadline: AbortSignal, describe: () => string): Promise<void> {
  return new Promise((resolve, reject) => {
    const onDeadline = () => settle(() => reject(new Error(describe())))
    const onChange = () => settle(resolve)
    const settle = (report: () => void) => {
      socket.removeListener('data', onChange)
      socket.removeListener('close', onChange)
      deadline.removeEventListener('abort', onDeadline)
      report()
    }
    socket.on('data', onChange)
    socket.on('close', onChange)
    deadline.addEventListener('abort', onDeadline)
  })
}

/** Returns a fetch function that sends the path and query of a URL with `send`. */
export function fetchThrough(send: Send) {
  return async (url: string, { method = 'GET', headers, body }: RequestInit) => {
    const { pathname, search } = new URL(url)
    const received = await send(pathname + search, {
      method,
      headers: Object.fromEntries(new Headers(headers)),
      ...((typeof body === 'string' || body instanceof Uint8Array) && { body }),
    })
    return new Response(received.body || null, { status: received.status, headers: received.headers })
  }
}
