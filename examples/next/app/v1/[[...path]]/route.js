import { createPetStore, toApiRequest, toResponse } from 'petstore-kit'

const keyStore = {
  find: (token) => (token === process.env.PETSTORE_KEY ? { id: 'shop', plan: 'business' } : undefined),
}
const petStore = createPetStore({ keyStore })

async function respond(request) {
  // Vercel sets this header, and clients cannot. Elsewhere, use the header that your proxy sets.
  const address = request.headers.get('x-real-ip') ?? undefined
  return toResponse(await petStore.handle(toApiRequest(request, address)))
}

export {
  respond as DELETE,
  respond as GET,
  respond as HEAD,
  respond as OPTIONS,
  respond as PATCH,
  respond as POST,
  respond as PUT,
}
