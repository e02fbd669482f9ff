import { compare } from './compare.mjs'

/**
 * Over HTTP: the kit beside a bare handler that writes the same bytes, and beside Fastify with what it would need. The
 * bare create neither reads nor writes JSON; the second one does, as it must to answer with what the client has sent.
 */
export async function benchHttp() {
  await compare('list', 'list', [{ name: 'bare' }, { name: 'kit' }, { name: 'fastify' }])
  await compare('create', 'create', [{ name: 'bare' }, { name: 'bare-json' }, { name: 'kit' }, { name: 'fastify' }])
}
