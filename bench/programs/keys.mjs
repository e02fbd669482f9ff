// Measures the quota store in memory with a given number of keys: the time to count a request, and the bytes of all counters.
import { importKit, LIMITS } from '../contestants/fixtures.mjs'
import { bestTimes, heapBytes } from './measure.mjs'

const count = Number(process.argv[2])
const { memory } = await importKit()
const { quota } = memory()
const subjects = Array.from({ length: count }, (_, i) => Buffer.from(`key:${i}`).toString())
const request = { subject: '', anonymous: false, limits: LIMITS, ban: false, now: 1_795_251_000_000 }
const before = heapBytes()
for (const subject of subjects) await quota.spend({ ...request, subject })
const bytes = heapBytes() - before

// The keys take turns in an order that looks random, as requests of many customers do.
let at = 0
const spend = () => {
  at = (at + 7_919) % count
  return quota.spend({ ...request, subject: subjects[at] })
}
const [time] = await bestTimes([spend], 20_000)
console.log(JSON.stringify({ bytes, time }))
