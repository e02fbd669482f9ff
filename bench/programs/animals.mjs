// Measures the storage in memory with a number of animals: bytes per animal beyond its name, and the time of a list.
import { importKit, pet, STATUSES } from '../contestants/fixtures.mjs'
import { bestTime, heapBytes } from './measure.mjs'

const count = Number(process.argv[2])
const { memory } = await importKit()
const { storage } = memory()
// The names exist before, so that they are not counted. Flattening a name takes the memory of its parts out of the measurement.
const pets = Array.from({ length: count }, (_, i) => ({ ...pet(i), name: Buffer.from(pet(i).name).toString() }))
const before = heapBytes()
const startedAt = performance.now()
for (const { name, categoryId, status } of pets) storage.create({ name, categoryId: BigInt(categoryId), status })
const create = ((performance.now() - startedAt) * 1000) / count
const bytes = (heapBytes() - before) / count

// A page at the start, in the middle and at the end. Each has at least 21 animals behind it.
const places = [undefined, BigInt(Math.floor(count / 2)), BigInt(count - 70)]
const times = [undefined, ...STATUSES].flatMap((status) =>
  (count < 200 ? [undefined] : places).map((after) =>
    bestTime(() => storage.list({ limit: 21, status, after }), 2_000),
  ),
)
console.log(JSON.stringify({ count, bytes, create, list: Math.max(...times), firstPage: times[0] }))
