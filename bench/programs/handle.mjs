// Calls `petStore.handle` of one build in this process, on Node or Bun. `PETSTORE_KIT_DIST` names the build.
import process from 'node:process'
import { created, filledStore, STATUSES } from '../contestants/fixtures.mjs'
import { toHandle } from '../contestants/requests.mjs'

const { petStore, tokens } = await filledStore()
const token = tokens.main
const requests = {
  list: [toHandle({ method: 'GET', target: '/v1/pets', token })],
  varied: (await differentPages()).map((target) => toHandle({ method: 'GET', target, token })),
  create: [toHandle({ method: 'POST', target: '/v1/pets', token, body: JSON.stringify(created) })],
}

async function differentPages() {
  const targets = []
  for (const limit of [20, 19, 21]) {
    for (const status of [undefined, ...STATUSES]) {
      let target = `/v1/pets?limit=${limit}${status ? `&status=${status}` : ''}`
      while (target !== undefined && targets.length < 300) {
        targets.push(target)
        const { headers } = await petStore.handle(toHandle({ method: 'GET', target, token }))
        const link = headers[headers.indexOf('Link') + 1]
        target = /<([^>]+)>; rel="next"/.exec(link)?.[1]
      }
    }
  }
  return targets
}

process.on('message', async ({ work, count }) => {
  const list = requests[work]
  const status = work === 'create' ? 201 : 200
  const before = process.cpuUsage()
  for (let i = 0, at = 0; i < count; i++) {
    const response = await petStore.handle(list[at])
    if (response.status !== status) throw new Error(`${work} got ${response.status}`)
    if (++at === list.length) at = 0
  }
  const { user, system } = process.cpuUsage(before)
  process.send((user + system) / count)
})
console.log('{}')
