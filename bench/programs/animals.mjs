// Measures a store in memory with a number of animals: bytes per animal beyond its name, and the time that a list takes.
import { importKit, LIMITS, pet, STATUSES } from '../contestants/fixtures.mjs'
import { toHandle } from '../contestants/requests.mjs'
import { bestTimes, heapBytes } from './measure.mjs'

const count = Number(process.argv[2])
const { createPetStore, memory } = await importKit()
const backEnd = memory()
// The names are created before memory is measured. `Buffer` makes flat strings: V8 would copy a concatenated string later.
const pets = Array.from({ length: count }, (_, i) => ({ ...pet(i), name: Buffer.from(pet(i).name).toString() }))
const before = heapBytes()
const startedAt = performance.now()
for (const { name, categoryId, status } of pets)
  backEnd.storage.create({ name, categoryId: BigInt(categoryId), status })
const create = ((performance.now() - startedAt) * 1000) / count
const bytes = (heapBytes() - before) / count

const petStore = createPetStore(backEnd)
const { token } = await backEnd.keyStore.issue({ plan: 'enterprise', limits: LIMITS })
const listOf = (target) => petStore.handle(toHandle({ method: 'GET', target, token }))

/** Returns the URLs of a page at the start, in the middle and at the end. It follows the links, because only the store knows its cursors. */
async function threePages(status) {
  const targets = []
  const filter = status === undefined ? '' : `&status=${status}`
  for (let target = `/v1/pets?limit=${count > 1_000 ? 100 : 20}${filter}`; target !== undefined; ) {
    targets.push(target.replace(/limit=\d+/, 'limit=20'))
    const { headers } = await listOf(target)
    target = /<([^>]+)>; rel="next"/.exec(headers[headers.indexOf('Link') + 1])?.[1]
  }
  // The last page may have fewer animals, so the page before it stands for the end.
  return [targets[0], targets[targets.length >> 1], targets.at(-2) ?? targets[0]]
}

const targets = []
for (const status of [undefined, ...STATUSES]) targets.push(...(await threePages(status)))
const requests = targets.map((target) => toHandle({ method: 'GET', target, token }))
const pages = await bestTimes(
  requests.map((request) => () => petStore.handle(request)),
  500,
)
console.log(JSON.stringify({ bytes, create, pages }))
