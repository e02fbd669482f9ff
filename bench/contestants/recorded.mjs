import { filledStore, TOKENS } from './fixtures.mjs'
import { oneOfEach, toHandle } from './requests.mjs'

/**
 * Records responses of the pet store, and returns a function that finds the recorded response to a request. Bare servers send it:
 * the same bytes, without the work. The token selects a success, a 401 or a 429; the query parameter `limit` selects the page.
 */
export async function recordedResponses() {
  const { petStore, tokens } = await filledStore()
  const { list, get, create, unauthorized, limited } = oneOfEach(tokens)
  await petStore.handle(toHandle(limited))
  const record = async (request) => {
    const { status, headers, body } = await petStore.handle(toHandle(request))
    const flat = [...headers, 'Content-Length', String(new TextEncoder().encode(body).length)]
    const pairs = Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i], flat[2 * i + 1]])
    return { status, flat, headers: Object.fromEntries(pairs), body }
  }
  const recorded = await Promise.all([list, get, create, unauthorized, limited].map(record))
  const [page, pet, added, rejected, refused] = recorded
  const pages = []
  for (let limit = 1; limit <= 100; limit++) pages[limit] = await record({ ...list, target: `/v1/pets?limit=${limit}` })
  const limitedHeader = `Bearer ${TOKENS.limited}`
  const mainHeader = `Bearer ${TOKENS.main}`
  return (method, path, authorization) => {
    if (authorization !== mainHeader) return authorization === limitedHeader ? refused : rejected
    if (method === 'POST') return added
    if (path.startsWith('/v1/pets/')) return pet
    return pages[/limit=(\d+)/.exec(path)?.[1]] ?? page
  }
}
