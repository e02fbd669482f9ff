import { createPetStore, memory } from 'petstore-kit'

// Next.js loads this module twice: for pages and for route handlers. Without globalThis, each would have a memory of its own.
// With a database, each would have connections and a cache of keys of its own.
const shared = globalThis as { petBackEnd?: ReturnType<typeof memory> }
shared.petBackEnd ??= memory()
export const backEnd = shared.petBackEnd

const keyStore = {
  find: (token: string) => (token === process.env.PETSTORE_KEY ? { id: 'shop', plan: 'business' } : undefined),
}
export const petStore = createPetStore({ ...backEnd, keyStore, cors: { origins: ['https://shop.example'] } })
