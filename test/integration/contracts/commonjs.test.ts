import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { compileFunction } from 'node:vm'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Clock } from '../../../src/index.ts'

const dist = join(import.meta.dirname, '../../../dist')

/** Loads a CommonJS module as Jest does. Jest compiles the source text itself, so `import()` is not available in the module. */
function load(file: string): Record<string, unknown> {
  const require = createRequire(file)
  const module = { exports: {} }
  const requireFrom = (name: string) => (name.startsWith('.') ? load(join(dirname(file), name)) : require(name))
  compileFunction(readFileSync(file, 'utf8'), ['exports', 'require', 'module'])(module.exports, requireFrom, module)
  return module.exports
}

test('the contract suites run in CommonJS if fast-check is passed to them', async () => {
  const bodies: (() => unknown)[] = []
  const runner = {
    fc,
    describe: (_: string, body: () => void) => body(),
    test: (_: string, body: () => void) => bodies.push(body),
  }
  const { storageContract } = load(join(dist, 'testing.cjs')) as { storageContract: (...args: unknown[]) => void }
  const { memory } = load(join(dist, 'index.cjs')) as { memory: (options: { clock: Clock }) => { storage: unknown } }
  storageContract(runner, {
    name: 'ours',
    runs: 1,
    open: (clock: Clock) => ({ port: memory({ clock }).storage, close: () => {} }),
  })
  for (const body of bodies) await body()
  expect(bodies.length).toBeGreaterThan(0)
})

test('an ES module imports every CommonJS export by its name', async () => {
  const files = (await readdir(dist)).filter((name) => name.endsWith('.cjs') && !name.startsWith('chunk'))
  expect(files.length).toBeGreaterThan(0)
  for (const name of files) {
    const names = Object.keys(createRequire(import.meta.url)(join(dist, name)))
    expect(names.length).toBeGreaterThan(0)
    const program = `import { ${names.join(', ')} } from ${JSON.stringify(join(dist, name))}`
    await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program])
  }
})
