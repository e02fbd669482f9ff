import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { groups } from '../contestants/index.mjs'
import { withServers } from '../support/processes.mjs'
import { median, shuffled } from '../support/statistics.mjs'

const root = new URL('../..', import.meta.url).pathname

/** Measures how long a server takes from the start of its process to its first response, and the size of each import. */
export async function startUp({ settings }) {
  return { start: await startTimes(settings), sizes: await sizes() }
}

async function startTimes({ isQuick, rounds }) {
  const results = []
  for (const group of groups.slice(0, 3)) {
    // Bare handlers load our library too, so they show nothing.
    const servers = group.servers.filter(({ does }) => does === 'all')
    const samples = new Map(servers.map(({ name }) => [name, []]))
    for (let i = 0; i < (isQuick ? rounds : rounds * 2); i++)
      for (const server of shuffled(servers)) samples.get(server.name).push(await firstResponse(server))
    console.log(`\n${group.name}: from the start of the process to the first response`)
    for (const [name, times] of samples) {
      console.log(`  ${name.padEnd(32)} ${median(times).toFixed(0).padStart(6)} ms`)
      results.push({ group: group.name, name, time: Math.round(median(times)) })
    }
  }
  return results
}

const firstResponse = (server) =>
  withServers([server], async ([{ port, tokens, startedIn }]) => {
    const startedAt = performance.now()
    const headers = { authorization: `Bearer ${tokens.main}` }
    await (await fetch(`http://127.0.0.1:${port}/v1/pets`, { headers })).arrayBuffer()
    return startedIn + performance.now() - startedAt
  })

/** Bundles each import as an application would, and returns its size: minified and gzipped, without drivers. */
async function sizes() {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const entries = Object.keys(exports).filter((name) => name !== './package.json')
  const files = readdirSync(join(root, 'dist'))
  console.log('\nsize of each import, minified and gzipped')
  const results = []
  for (const entry of entries) {
    const file = `${entry === '.' ? 'index' : entry.split('/').at(-1)}.js`
    if (!files.includes(file)) throw new Error(`the build has no ${file} for ${entry}`)
    const { outputFiles } = await build({
      entryPoints: [join(root, 'dist', file)],
      bundle: true,
      minify: true,
      format: 'esm',
      platform: 'node',
      packages: 'bundle',
      external: ['fast-check', '@mswjs/interceptors', 'swagger-ui-dist'],
      logLevel: 'error',
      write: false,
    })
    const bytes = gzipSync(outputFiles[0].contents, { level: 9 }).length
    const name = entry.replace('.', 'petstore-kit')
    console.log(`  ${name.padEnd(32)} ${(bytes / 1000).toFixed(1).padStart(6)} kB`)
    results.push({ entry: name, bytes })
  }
  return results
}
