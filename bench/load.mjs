import { connect } from 'node:net'
import { created } from './fixtures.mjs'

/** Sends the same request on `connections` sockets until `count` responses have arrived. Returns the time in seconds. */
export async function load(port, request, count, connections = 32) {
  const started = performance.now()
  let sent = 0
  let failures = 0
  const runOne = () =>
    new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1')
      socket.setNoDelay(true)
      let text = ''
      const next = () => (sent++ < count ? socket.write(request) : socket.end(resolve))
      socket.on('close', () => reject(new Error('a server has closed a connection')))
      socket.on('connect', next)
      socket.on('error', reject)
      socket.on('data', (chunk) => {
        text = text === '' ? chunk.latin1Slice() : text + chunk.latin1Slice()
        const head = text.indexOf('\r\n\r\n')
        if (head === -1) return
        const length = Number(/content-length: (\d+)/i.exec(text)?.[1])
        if (text.length < head + 4 + length) return
        if (text.charCodeAt(9) !== 0x32) failures++
        text = ''
        next()
      })
    })
  await Promise.all(Array.from({ length: connections }, runOne))
  if (failures > 0) throw new Error(`${failures} of ${count} requests were refused`)
  return (performance.now() - started) / 1000
}

/** Returns the text of a request. */
export function requestText(kind, token) {
  const head = `Host: localhost\r\nAuthorization: Bearer ${token}\r\n`
  if (kind === 'list') return `GET /v1/pets HTTP/1.1\r\n${head}\r\n`
  const body = JSON.stringify(created)
  return `POST /v1/pets HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}
