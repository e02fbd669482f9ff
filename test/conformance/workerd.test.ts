import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll } from 'vitest'
import { runtimeBinary } from './runtimes.ts'
import { hostProgram } from './start-host.ts'
import { testHost } from './test-host.ts'

const folder = await mkdtemp(join(tmpdir(), 'petstore-kit-'))
afterAll(() => rm(folder, { recursive: true }))

// Workers take one module: what the package and the program import is bundled into it, as wrangler does.
await build({
  entryPoints: [hostProgram('worker.mjs')],
  bundle: true,
  format: 'esm',
  conditions: ['workerd'],
  outfile: join(folder, 'worker.js'),
})
await copyFile(hostProgram('worker.capnp'), join(folder, 'worker.capnp'))

testHost({
  name: 'workerd',
  binary: await runtimeBinary('workerd'),
  args: ['serve', '--control-fd=1'],
  program: join(folder, 'worker.capnp'),
})
