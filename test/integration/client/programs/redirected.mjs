/** Calls a server that redirects every request. Returns the messages of the errors. */
import { createPetStoreClient } from '../../../../dist/client.js'

export async function callRedirected(baseUrl) {
  const client = createPetStoreClient({ baseUrl, apiKey: 'pet_secret' })
  const calls = [client.listPets(), client.createPet({ name: 'Rex', categoryId: 7n })]
  const results = await Promise.allSettled(calls)
  return results.map(({ reason }) => `${reason?.code}: ${reason?.message}`)
}
