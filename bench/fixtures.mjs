import { createPetStore, memory } from 'petstore-kit'

/** The number of animals in each server before the benchmark starts. */
export const PETS = 1000

/** Limits that no run reaches, so that every request is counted and served. */
export const LIMITS = { perMinute: 1_000_000_000, perDay: 1_000_000_000 }

/** Returns the animal at an index. Indexes begin with 0. */
export const pet = (i) => ({
  name: `Animal number ${i}`,
  categoryId: (i % 7) + 1,
  status: ['available', 'pending', 'sold'][i % 3],
})

/** The animal that every create request sends. */
export const created = pet(PETS)

/** Returns the JSON text of the created animal at an index. */
export const createdText = (i) =>
  `{"id":${i + 1},"name":"${created.name}","categoryId":${created.categoryId},"status":"${created.status}"}`

/** Returns the JSON text of the animal at an index, as the store writes it. */
export const petText = (i) => {
  const { name, categoryId, status } = pet(i)
  return `{"id":${i + 1},"name":"${name}","categoryId":${categoryId},"status":"${status}"}`
}

/** Returns the JSON text of the first `count` animals. */
export const pageText = (count) => `[${Array.from({ length: count }, (_, i) => petText(i)).join(',')}]`

/** Creates a store in memory with all animals, and a key whose limits no run reaches. */
export async function filledStore() {
  const backEnd = memory()
  await fill(backEnd.storage)
  const { token } = await backEnd.keyStore.issue({ plan: 'enterprise', limits: LIMITS })
  return { petStore: createPetStore(backEnd), token }
}

/** Adds all animals to a storage. */
export async function fill(storage) {
  for (let i = 0; i < PETS; i++) await storage.create({ ...pet(i), categoryId: BigInt(pet(i).categoryId) })
}

/** Writes a response with the same headers as the store. */
export function writeResponse(res, status, body) {
  const headers = ['Content-Type', 'application/json', 'Cache-Control', 'no-store']
  if (status === 200) headers.push('Link', '</v1/pets?cursor=MToyMA>; rel="next"')
  headers.push('X-RateLimit-Limit', String(LIMITS.perMinute), 'X-RateLimit-Remaining', '999999999')
  headers.push('X-RateLimit-Reset', '1795251060', 'Content-Length', String(Buffer.byteLength(body)))
  res.writeHead(status, headers)
  res.end(body)
}

/** Cleans up and ends this process after a signal, or when the parent process ends. */
export function endWith(cleanUp = () => {}) {
  let isEnding = false
  const end = async () => {
    if (isEnding) return
    isEnding = true
    await cleanUp()
    process.exit()
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'disconnect']) process.on(signal, end)
}

/**
 * Sends port and token to the parent process. Later responds to each message of the parent process with the processor time used
 * so far.
 */
export function ready(port, token) {
  process.on('message', () => process.send({ cpu: process.cpuUsage() }))
  process.send({ port, token })
}

/** Listens on a free port, and sends the port to the parent process. */
export function listening(server, token, cleanUp) {
  endWith(cleanUp)
  server.listen(0, '127.0.0.1', () => ready(server.address().port, token))
}

/** If the argument of this process is `busy`, adds the route `/compute`, which computes for 20 ms. */
export function withComputeRoute(handler) {
  if (process.argv[2] !== 'busy') return handler
  return (request, response) => {
    if (request.url !== '/compute') return handler(request, response)
    for (const end = performance.now() + 20; performance.now() < end; );
    response.end('computed')
  }
}
