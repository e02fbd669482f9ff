import { createServer } from 'node:http'
import { createdText, listening, PETS, pageText, withComputeRoute, writeResponse } from '../fixtures.mjs'

/** Writes the bytes and headers of the same responses without any of the work. */
const list = pageText(20)
let count = PETS

const handler = (req, res) => {
  if (req.method === 'GET') return writeResponse(res, 200, list)
  req.resume()
  req.on('end', () => writeResponse(res, 201, createdText(count++)))
}
listening(createServer(withComputeRoute(handler)), 'none')
