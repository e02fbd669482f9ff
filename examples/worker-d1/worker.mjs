// In this folder: npx wrangler d1 migrations apply pets --local && npx wrangler dev --var ADMIN_TOKEN:secret
import { env } from 'cloudflare:workers'
import { createPetStore, toApiRequest, toResponse } from 'petstore-kit'
import { d1 } from 'petstore-kit/d1'

const backEnd = d1(env.DB)
const petStore = createPetStore({ ...backEnd })

/** @type {ExportedHandler} */
export default {
  async fetch(request) {
    const { pathname, searchParams } = new URL(request.url)
    if (pathname !== '/keys') {
      // Cloudflare sets this header, so clients cannot choose it.
      const address = request.headers.get('cf-connecting-ip')
      return toResponse(await petStore.handle(toApiRequest(request, address)))
    }
    // curl -X POST -H 'Authorization: Bearer secret' 'http://localhost:8787/keys?plan=pro'
    if (request.method !== 'POST' || !(await isOperator(request))) return new Response('Forbidden', { status: 403 })
    const { token } = await petStore.keys.issue({ plan: searchParams.get('plan') ?? 'free' })
    return new Response(`${token}\n`)
  },
}

/**
 * Compares the token with the secret in a time that does not depend on where they differ.
 *
 * @param {Request} request
 */
async function isOperator(request) {
  if (!env.ADMIN_TOKEN) return false
  const [sent, secret] = await Promise.all(
    [request.headers.get('authorization') ?? '', `Bearer ${env.ADMIN_TOKEN}`].map((text) =>
      crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)),
    ),
  )
  return crypto.subtle.timingSafeEqual(sent, secret)
}
