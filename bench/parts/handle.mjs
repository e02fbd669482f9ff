import { once } from 'node:events'
import { resolve } from 'node:path'
import { earlierBuild } from '../support/builds.mjs'
import { pinned, runtimes, start, stop } from '../support/processes.mjs'
import { median, ratioOf, ratioText, shuffled } from '../support/statistics.mjs'

const program = new URL('../programs/handle.mjs', import.meta.url).pathname
const WORKS = ['list', 'varied', 'walk 20', 'walk 100', 'create']

/**
 * Measures `petStore.handle` without HTTP, on Node and on Bun. With `--against DIR`, compares with the build in `DIR/dist`. Each
 * build has its own processes. In every round, the builds are measured one after another, in random order.
 */
export async function handle({ settings }) {
  const builds = { now: resolve(import.meta.dirname, '../../dist') }
  if (settings.against) builds.earlier = earlierBuild(settings.against)
  const results = []
  for (const runtime of ['node', 'bun']) {
    const samples = Object.fromEntries(WORKS.map((work) => [work, { now: [], earlier: [] }]))
    for (let process = 0; process < settings.processes; process++) await measure(runtime, builds, settings, samples)
    for (const work of WORKS) results.push(summarize(runtime, work, samples[work]))
  }
  return results
}

async function measure(runtime, builds, settings, samples) {
  const running = []
  try {
    for (const [build, dist] of Object.entries(builds)) {
      const command = pinned(0, [...runtimes[runtime], program])
      const one = await start(`petstore-kit in ${dist}`, command, { ipc: true, env: { PETSTORE_KIT_DIST: dist } })
      running.push({ build, ...one })
    }
    for (const work of WORKS) {
      for (const { build, child } of running) {
        samples[work][build].push([])
        await timed(child, work, settings.calls * 3)
      }
      for (let round = 0; round < settings.rounds * 2; round++)
        for (const { build, child } of shuffled(running))
          samples[work][build].at(-1).push(await timed(child, work, settings.calls))
    }
  } finally {
    await Promise.all(running.map(stop))
  }
}

async function timed(child, work, count) {
  child.send({ work, count })
  const [time] = await once(child, 'message')
  return time
}

function summarize(runtime, work, { now, earlier }) {
  const time = median(now.flat())
  const result = { runtime, work, time: Number(time.toFixed(3)) }
  let text = `handle in ${runtime}, ${work}: ${time.toFixed(2)} us`
  if (earlier.length > 0) {
    Object.assign(result, { earlier: Number(median(earlier.flat()).toFixed(3)), ...ratioOf(now, earlier) })
    text += `, before ${result.earlier.toFixed(2)} us, ratio ${ratioText(result)}`
  }
  console.log(text)
  return result
}
