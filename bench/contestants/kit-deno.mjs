import { filledStore, importKit, ready } from './fixtures.mjs'

const { toDenoHandler } = await importKit('deno')
const { petStore, tokens } = await filledStore()
Deno.serve({ port: 0, hostname: '127.0.0.1', onListen: ({ port }) => ready(port, tokens) }, toDenoHandler(petStore))
