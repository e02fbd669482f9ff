import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Miniflare } from 'miniflare'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bundleWorker } from '../../conformance/bundle-worker.ts'

let miniflare: Miniflare
beforeAll(async () => {
  const folder = await bundleWorker(join(import.meta.dirname, 'programs/shared-calls-worker.ts'))
  const script = await readFile(join(folder, 'worker.js'), 'utf8')
  await rm(folder, { recursive: true })
  miniflare = new Miniflare({ script, modules: true, compatibilityDate: '2025-10-01' })
})
afterAll(() => miniflare.dispose())

const KEY = { id: 'front-desk', plan: 'free' }
test.each([
  ['a key that is forgotten during its look-up is looked up again', '/forget', KEY],
  ['a look-up whose request has ended delays no later request', '/find', KEY],
  ['a probe whose request has ended delays no later probe', '/ready', { ok: true, failing: [] }],
])('on Workers, %s', async (_, path, expected) => {
  await miniflare.dispatchFetch(`http://localhost${path}`)
  const later = await miniflare.dispatchFetch(`http://localhost${path}?later`)
  expect(await later.text()).toBe(JSON.stringify(expected))
})
