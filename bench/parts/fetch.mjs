import { filledStore } from '../contestants/fixtures.mjs'
import { median } from '../support/statistics.mjs'

/** Compares `petStore.fetch` with a bare handler, which only reads three parts of the Request and creates the Response. */
export async function fetchInProcess({ settings }) {
  const { petStore, tokens } = await filledStore()
  const authorization = `Bearer ${tokens.main}`
  const build = () => new Request('http://localhost/v1/pets', { headers: { authorization } })
  const recorded = await petStore.fetch(build())
  const headers = Object.fromEntries(recorded.headers)
  const body = await recorded.text()
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
  for (let round = -2; round < settings.rounds * settings.processes; round++) {
    for (const [name, run] of Object.entries(contestants)) {
      const startedAt = performance.now()
      for (let i = 0; i < settings.calls; i++) await run()
      if (round >= 0) samples[name].push(((performance.now() - startedAt) * 1000) / settings.calls)
    }
  }
  const [bare, kit] = [median(samples.bare), median(samples.kit)]
  console.log(
    `\nfetch(new Request()): ${kit.toFixed(1)} us, bare ${bare.toFixed(1)} us, ratio ${(kit / bare).toFixed(2)}`,
  )
  return { bare, kit }
}
