import { createServer } from 'node:http'
import { filledStore, importKit, ready, withComputeRoute } from './fixtures.mjs'

const { toNodeHandler } = await importKit('node')
const { petStore, tokens } = await filledStore()
const server = createServer(withComputeRoute(toNodeHandler(petStore)))
server.listen(0, '127.0.0.1', () => ready(server.address().port, tokens))
