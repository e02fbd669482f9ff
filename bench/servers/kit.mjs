import { createServer } from 'node:http'
import { toNodeHandler } from 'petstore-kit/node'
import { filledStore, listening } from '../fixtures.mjs'

const { petStore, token } = await filledStore()
listening(createServer(toNodeHandler(petStore)), token)
