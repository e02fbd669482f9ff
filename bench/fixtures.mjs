import { createPetStore, memory } from 'petstore-kit'

/** How many animals each server holds before it is measured. */
export const PETS = 1000

/** Limits that no run reaches, so that every request is counted and served. */
export const LIMITS = { perMinute: 1_000_000_000, perDay: 1_000_000_000 }

/** The animal of that number, counted from 0. */
export const pet = (i) => ({
  name: `Animal number ${i}`,
  categoryId: (i % 7) + 1,
  status: ['available', 'pending', 'sold'][i % 3],
})

/** The animal that clients create: what the next one would be. */
export const created = pet(PETS)

/** The text of the animal that was created as the so many-th. */
export const createdText = (i) =>
  `{"id":${i + 1},"name":"${created.name}","categoryId":${created.categoryId},"status":"${created.status}"}`

/** The text of an animal as the service writes it. */
export const petText = (i) => {
  const { name, categoryId, status } = pet(i)
  return `{"id":${i + 1},"name":"${name}","categoryId":${categoryId},"status":"${status}"}`
}

/** The text of the first animals. */
export const pageText = (count) => `[${Array.from({ length: count }, (_, i) => petText(i)).join(',')}]`

/** A store in memory, filled, and the token of a key that no run exhausts. */
export async function filledStore() {
  const backEnd = memory()
  await fill(backEnd.storage)
  const { token } = await backEnd.keyStore.issue({ plan: 'enterprise', limits: LIMITS })
  return { petStore: createPetStore(backEnd), token }
}

/** Puts the animals into a storage. */
export async function fill(storage) {
  for (let i = 0; i < PETS; i++) await storage.create({ ...pet(i), categoryId: BigInt(pet(i).categoryId) })
}

/** Writes a page, or an animal that was created, with the headers that the service would write. */
export function writeAnswer(res, status, body) {
  const headers = ['Content-Type', 'application/json', 'Cache-Control', 'no-store']
  if (status === 200) headers.push('Link', '</v1/pets?cursor=MToyMA>; rel="next"')
  headers.push('X-RateLimit-Limit', String(LIMITS.perMinute), 'X-RateLimit-Remaining', '999999999')
  headers.push('X-RateLimit-Reset', '1795251060', 'Content-Length', String(Buffer.byteLength(body)))
  res.writeHead(status, headers)
  res.end(body)
}

/** Ends this process as soon as it is told to, or its parent has gone, and cleans up before. */
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

/** Tells the parent that a server listens, and answers it with the processor time that was used. */
export function ready(port, token) {
  process.on('message', () => process.send({ cpu: process.cpuUsage() }))
  process.send({ port, token })
}

/** Listens on a free port. */
export function listening(server, token, cleanUp) {
  endWith(cleanUp)
  server.listen(0, '127.0.0.1', () => ready(server.address().port, token))
}

/** With the argument `busy`, adds a route of the host that computes for 20 ms. */
export function withComputeRoute(handler) {
  if (process.argv[2] !== 'busy') return handler
  return (request, response) => {
    if (request.url !== '/compute') return handler(request, response)
    for (const end = performance.now() + 20; performance.now() < end; );
    response.end('computed')
  }
}
