import Fastify from 'fastify'
import { filledStore, importKit, ready } from './fixtures.mjs'

const { toFastifyPlugin } = await importKit('fastify')
const { petStore, tokens } = await filledStore()
const app = Fastify()
app.register(toFastifyPlugin, { petStore })
await app.listen({ port: 0, host: '127.0.0.1' })
ready(app.server.address().port, tokens)
