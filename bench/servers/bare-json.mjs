import { createServer } from 'node:http'
import { listening, PETS, writeResponse } from '../fixtures.mjs'

/** The largest id so far. This server returns the sent animal with the next id, and checks, stores and counts nothing. */
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
