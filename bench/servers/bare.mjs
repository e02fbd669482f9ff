import { createServer } from 'node:http'
import { createdText, listening, PETS, pageText, withComputeRoute, writeAnswer } from '../fixtures.mjs'

/** The floor: the bytes and headers of the same answers, without any of the work that leads to them. */
const list = pageText(20)
let count = PETS

const handler = (req, res) => {
  if (req.method === 'GET') return writeAnswer(res, 200, list)
  req.resume()
  req.on('end', () => writeAnswer(res, 201, createdText(count++)))
}
listening(createServer(withComputeRoute(handler)), 'none')
