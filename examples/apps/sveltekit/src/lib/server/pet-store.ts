import { createPetStore, memory } from 'petstore-kit'

export const backEnd = memory()

const keyStore = {
  find: (token: string) => (token === process.env.PETSTORE_KEY ? { id: 'shop', plan: 'business' } : undefined),
}
export const petStore = createPetStore({ ...backEnd, keyStore, cors: { origins: ['https://shop.example'] } })
