import { compare } from './compare.mjs'

/**
 * Compares the store over HTTP with a bare handler that writes the same bytes, and with Fastify and its plugins for the same job.
 * On create, `bare` neither parses nor serializes JSON; `bare-json` does both.
 */
export async function benchHttp() {
  await compare('list', 'list', [{ name: 'bare' }, { name: 'kit' }, { name: 'fastify' }])
  await compare('create', 'create', [{ name: 'bare' }, { name: 'bare-json' }, { name: 'kit' }, { name: 'fastify' }])
}
