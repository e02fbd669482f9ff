import { createServer } from 'node:http'
import { toNodeHandler } from 'petstore-kit/node'
import { filledStore, listening, withComputeRoute } from '../fixtures.mjs'

const { petStore, token } = await filledStore()
listening(createServer(withComputeRoute(toNodeHandler(petStore))), token)
