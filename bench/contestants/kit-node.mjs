import { filledStore, importKit, ready } from './fixtures.mjs'

const { serve } = await importKit('node')
const { petStore, tokens } = await filledStore()
const server = await serve(petStore, { port: 0, host: '127.0.0.1' })
ready(Number(new URL(server.url).port), tokens)
