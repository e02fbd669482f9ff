import { createServer } from 'node:http'
import { listening, PETS, writeResponse } from '../fixtures.mjs'

/** Returns the sent animal with an id. Nothing is checked, stored or counted. */
let created = PETS

const server = createServer((req, res) => {
  const chunks = []
  req.on('data', (chunk) => chunks.push(chunk))
  req.on('end', () => {
    const { name, categoryId, status } = JSON.parse(Buffer.concat(chunks).toString())
    writeResponse(res, 201, JSON.stringify({ id: ++created, name, categoryId, status }))
  })
})
listening(server, 'none')
