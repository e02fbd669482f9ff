import { createServer } from 'node:http'
import { createdText, listening, PETS, pageText, writeAnswer } from '../fixtures.mjs'

/** The floor: the bytes and headers of the same answers, without any of the work that leads to them. */
const list = pageText(20)
let count = PETS

const server = createServer((req, res) => {
  if (req.method === 'GET') return writeAnswer(res, 200, list)
  req.resume()
  req.on('end', () => writeAnswer(res, 201, createdText(count++)))
})
listening(server, 'none')
