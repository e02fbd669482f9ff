import { median } from './compare.mjs'
import { filledStore, pageText } from './fixtures.mjs'

/** Compares `petStore.fetch` in this process with creating the Request, reading three parts of it, and creating the Response. */
export async function benchFetch({ count = 20_000, rounds = 9 } = {}) {
  const { petStore, token } = await filledStore()
  const build = () => new Request('http://localhost/v1/pets', { headers: { authorization: `Bearer ${token}` } })
  const body = pageText(20)
  const headers = Object.fromEntries((await petStore.fetch(build())).headers)
  const contestants = {
    bare: async () => {
      const request = build()
      const read = [request.method, request.url, request.headers.get('authorization')]
      return new Response(body, { status: read.length === 3 ? 200 : 500, headers })
    },
    kit: () => petStore.fetch(build()),
  }
  for (const run of Object.values(contestants))
    if ((await (await run()).text()) !== body) throw new Error('the responses differ')
  const samples = { bare: [], kit: [] }
  for (let round = -2; round < rounds; round++) {
    for (const [name, run] of Object.entries(contestants)) {
      const started = performance.now()
      for (let i = 0; i < count; i++) await run()
      if (round >= 0) samples[name].push(((performance.now() - started) * 1000) / count)
    }
  }
  const bare = median(samples.bare)
  const kit = median(samples.kit)
  console.log(
    `\nfetch(new Request()): ${kit.toFixed(1)} us, bare ${bare.toFixed(1)} us, ratio ${(kit / bare).toFixed(2)}`,
  )
}
