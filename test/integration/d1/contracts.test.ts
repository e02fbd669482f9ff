import { join } from 'node:path'
import { build } from 'esbuild'
import { Miniflare } from 'miniflare'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { d1Contracts } from './contracts.ts'

let miniflare: Miniflare
beforeAll(async () => {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, 'programs/contract-worker.ts')],
    bundle: true,
    format: 'esm',
    conditions: ['workerd'],
    write: false,
    logLevel: 'error',
  })
  miniflare = new Miniflare({
    modules: true,
    script: outputFiles[0]?.text ?? '',
    compatibilityDate: '2026-04-01',
    d1Databases: ['DB'],
  })
})
afterAll(() => miniflare.dispose())

/** A runner that adds the same tests as the Worker. Each test sends its title to the Worker, which runs the test there. */
let group = ''
const runner = {
  describe(name: string, define: () => void) {
    describe(name, () => {
      group = name
      define()
    })
  },
  test(name: string) {
    const title = `${group} > ${name}`
    test(name, async () => {
      const response = await miniflare.dispatchFetch('http://localhost/', { method: 'POST', body: title })
      expect(await response.text()).toBe('')
    })
  },
}
d1Contracts(runner, 'D1', () => {
  throw new Error('the tests run in the Worker')
})
