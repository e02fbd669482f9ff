// Calls `petStore.handle` of one build in this process, on Node or Bun. `PETSTORE_KIT_DIST` names the build.
import process from 'node:process'
import { created, filledStore } from '../contestants/fixtures.mjs'
import { differentPages, nextPage, toHandle } from '../contestants/requests.mjs'
import { WALKED } from '../load/works.mjs'

const few = await filledStore()
const many = await filledStore(undefined, WALKED)
const post = { method: 'POST', target: '/v1/pets', body: JSON.stringify(created) }
const works = {
  list: requestsOf(few, [{ method: 'GET', target: '/v1/pets' }]),
  varied: requestsOf(few, (await differentPages((target) => pageAfter(few, target))).map(get)),
  'walk 20': requestsOf(many, await walk('/v1/pets?limit=20')),
  'walk 100': requestsOf(many, await walk('/v1/pets?limit=100')),
  create: requestsOf(few, [post]),
}

function get(target) {
  return { method: 'GET', target }
}

function requestsOf({ petStore, tokens }, list) {
  return { petStore, list: list.map((one) => toHandle({ ...one, token: tokens.main })), at: 0 }
}

async function pageAfter({ petStore, tokens }, target) {
  const { headers } = await petStore.handle(toHandle({ ...get(target), token: tokens.main }))
  return nextPage(headers[headers.indexOf('Link') + 1])
}

async function walk(first) {
  const all = []
  for (let target = first; target !== undefined; target = await pageAfter(many, target)) all.push(get(target))
  return all
}

process.on('message', async ({ work, count }) => {
  const { petStore, list } = works[work]
  const status = work === 'create' ? 201 : 200
  const before = process.cpuUsage()
  for (let i = 0; i < count; i++) {
    const response = await petStore.handle(list[works[work].at++ % list.length])
    if (response.status !== status) throw new Error(`${work} got ${response.status}`)
  }
  const { user, system } = process.cpuUsage(before)
  process.send((user + system) / count)
})
console.log('{}')
