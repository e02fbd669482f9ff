import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { compileFunction } from 'node:vm'
import { expect, test } from 'vitest'

const dist = join(import.meta.dirname, '../../../dist')

/** Loads a CommonJS module as Jest does: compiled by itself, where an `import()` has nobody to answer it. */
function load(file: string): Record<string, unknown> {
  const require = createRequire(file)
  const module = { exports: {} }
  const here = (name: string) => (name.startsWith('.') ? load(join(dirname(file), name)) : require(name))
  compileFunction(readFileSync(file, 'utf8'), ['exports', 'require', 'module'])(module.exports, here, module)
  return module.exports
}

test('the suites run where a runner compiles CommonJS by itself', async () => {
  const bodies: (() => unknown)[] = []
  const runner = {
    describe: (_: string, body: () => void) => body(),
    test: (_: string, body: () => void) => bodies.push(body),
  }
  const { storageContract } = load(join(dist, 'testing.cjs')) as { storageContract: (...args: unknown[]) => void }
  const { memory } = load(join(dist, 'index.cjs')) as { memory: () => { storage: unknown } }
  storageContract(runner, { name: 'ours', runs: 1, open: () => ({ port: memory().storage, close: () => {} }) })
  for (const body of bodies) await body()
  expect(bodies.length).toBeGreaterThan(3)
})
