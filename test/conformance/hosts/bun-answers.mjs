import { createPetStore, memory } from 'petstore-kit'
import { toBunHandler } from 'petstore-kit/bun'

// What the handler gives where the answer is there at once, is still to come, or is none.
const backEnd = memory()
const { token } = await backEnd.keyStore.issue({ plan: 'free' })
const petStore = createPetStore(backEnd)
const answer = { status: 200, headers: [], body: 'x' }
const handles = {
  'first use of a key': petStore.handle,
  'from memory': petStore.handle,
  later: async (request) => petStore.handle(request),
  'no promise': () => answer,
  rejected: () => Promise.reject(new Error('lost')),
  throws: () => {
    throw new Error('lost')
  },
  'no answer': () => Promise.resolve(undefined),
  'no header': () => Promise.resolve({ ...answer, headers: ['a\nb', 'c'] }),
}
for (const [name, handle] of Object.entries(handles)) {
  const request = new Request('http://a/v1/pets', { headers: { authorization: `Bearer ${token}` } })
  const given = toBunHandler({ ...petStore, handle })(request, { requestIP: () => null })
  console.log(`${name}: ${given instanceof Response ? 'now' : 'a promise'}, ${(await given).status}`)
}
