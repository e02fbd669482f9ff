import { createServer } from 'node:http'
import { LIMITS, listening, PETS, pageText, petText } from '../fixtures.mjs'

/** The floor: the bytes and headers of the same answers, without any of the work that leads to them. */
const list = pageText(20)
let created = PETS

const answer = (res, status, body, link) => {
  const headers = ['Content-Type', 'application/json']
  if (link) headers.push('Link', '</v1/pets?cursor=MToyMA>; rel="next"')
  headers.push(
    'X-RateLimit-Limit',
    String(LIMITS.perMinute),
    'X-RateLimit-Remaining',
    '999999999',
    'X-RateLimit-Reset',
    '1795251060',
  )
  headers.push('Content-Length', String(Buffer.byteLength(body)))
  res.writeHead(status, headers)
  res.end(body)
}

const server = createServer((req, res) => {
  if (req.method === 'GET') return answer(res, 200, list, true)
  req.resume()
  req.on('end', () => answer(res, 201, petText(created++), false))
})
listening(server, 'none')
