import { createPetStore, memory } from 'petstore-kit'
import { toBunHandler } from 'petstore-kit/bun'

// Prints whether the handler returns a Response or a promise, for several results of `handle`.
const backEnd = memory()
const { token } = await backEnd.keyStore.issue({ plan: 'free' })
const petStore = createPetStore(backEnd)
const response = { status: 200, headers: [], body: 'x' }
const handles = {
  'first use of a key': petStore.handle,
  'from memory': petStore.handle,
  later: async (request) => petStore.handle(request),
  'no promise': () => response,
  rejected: () => Promise.reject(new Error('lost')),
  throws: () => {
    throw new Error('lost')
  },
  'no response': () => Promise.resolve(undefined),
  'invalid header': () => Promise.resolve({ ...response, headers: ['a\nb', 'c'] }),
}
for (const [name, handle] of Object.entries(handles)) {
  const request = new Request('http://a/v1/pets', { headers: { authorization: `Bearer ${token}` } })
  const result = toBunHandler({ ...petStore, handle })(request, { requestIP: () => null })
  console.log(`${name}: ${result instanceof Response ? 'now' : 'a promise'}, ${(await result).status}`)
}
