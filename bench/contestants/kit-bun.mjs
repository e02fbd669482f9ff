import { filledStore, importKit, ready } from './fixtures.mjs'

const { toBunHandler } = await importKit('bun')
const { petStore, tokens } = await filledStore()
ready(Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: toBunHandler(petStore) }).port, tokens)
