import { filledStore, TOKENS } from './fixtures.mjs'
import { oneOfEach, toHandle } from './requests.mjs'

/**
 * Returns a function that finds our response to a request. The bare servers repeat it, so that they write the same bytes as we
 * do, and do none of the work. The token decides between a served request, a 401 and a 429.
 */
export async function recordedResponses() {
  const { petStore, tokens } = await filledStore()
  const recorded = {}
  await petStore.handle(toHandle(oneOfEach(tokens).limited))
  for (const [name, request] of Object.entries(oneOfEach(tokens))) {
    const { status, headers, body } = await petStore.handle(toHandle(request))
    const all = [...headers, 'Content-Length', String(new TextEncoder().encode(body).length)]
    const pairs = Array.from({ length: all.length / 2 }, (_, i) => [all[2 * i], all[2 * i + 1]])
    recorded[name] = { status, flat: all, headers: Object.fromEntries(pairs), body }
  }
  const { list, get, create, unauthorized, limited } = recorded
  const limitedHeader = `Bearer ${TOKENS.limited}`
  const mainHeader = `Bearer ${TOKENS.main}`
  return (method, path, authorization) => {
    if (authorization !== mainHeader) return authorization === limitedHeader ? limited : unauthorized
    if (method === 'POST') return create
    return path.startsWith('/v1/pets/') ? get : list
  }
}
