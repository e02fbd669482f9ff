import { copyFile, mkdtemp } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build, type Plugin } from 'esbuild'
import { hostProgram } from './start-host.ts'

/** Modules of Node may be imported without `node:`, and by `require`, as CommonJS packages such as `pg` do. */
const nodeModules: Plugin = {
  name: 'node-modules',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^[\w:/]+$/ }, ({ path: name, kind }) => {
      if (!isBuiltin(name)) return undefined
      const path = name.startsWith('node:') ? name : `node:${name}`
      return kind === 'require-call' ? { path, namespace: 'required' } : { path, external: true }
    })
    onLoad({ filter: /./, namespace: 'required' }, ({ path }) => ({
      contents: `import exports from '${path}'; module.exports = exports`,
    }))
  },
}

/** Bundles a program into one module, as wrangler does. Returns the folder with this module and workerd's configuration file. */
export async function bundleWorker(program: string, configuration = 'worker.capnp'): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'petstore-kit-'))
  const outfile = join(folder, 'worker.js')
  await build({
    entryPoints: [program],
    bundle: true,
    format: 'esm',
    conditions: ['workerd'],
    external: ['cloudflare:*'],
    plugins: [nodeModules],
    outfile,
    // Our chunks import each other without using a name, which esbuild warns about outside of node_modules.
    logLevel: 'error',
  })
  await copyFile(hostProgram(configuration), join(folder, 'worker.capnp'))
  return folder
}

/** The arguments of workerd before the configuration file. With `--control-fd=1`, workerd prints its port. */
export const workerdArgs = ['serve', '--control-fd=1']
