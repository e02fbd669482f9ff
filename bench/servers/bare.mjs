import { createServer } from 'node:http'
import { createdText, listening, PETS, pageText, withComputeRoute, writeResponse } from '../fixtures.mjs'

/** The text of every list. This server writes the same bytes and headers as the store, but does none of its work. */
const list = pageText(20)
let count = PETS

const handler = (req, res) => {
  if (req.method === 'GET') return writeResponse(res, 200, list)
  req.resume()
  req.on('end', () => writeResponse(res, 201, createdText(count++)))
}
listening(createServer(withComputeRoute(handler)), 'none')
