import { createPetStore } from 'petstore-kit'

const keyStore = {
  find: (token) => (token === process.env.PETSTORE_KEY ? { id: 'shop', plan: 'business' } : undefined),
}
const { fetch } = createPetStore({ keyStore })

export { fetch as DELETE, fetch as GET, fetch as HEAD, fetch as OPTIONS, fetch as PATCH, fetch as POST, fetch as PUT }
