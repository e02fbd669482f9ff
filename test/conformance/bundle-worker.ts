import { copyFile, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { hostProgram } from './start-host.ts'

/** Bundles a program into one module, as wrangler does. Returns the folder with this module and workerd's configuration file. */
export async function bundleWorker(program: string, configuration = 'worker.capnp'): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'petstore-kit-'))
  const outfile = join(folder, 'worker.js')
  const external = ['node:*', 'cloudflare:*']
  await build({
    entryPoints: [program],
    bundle: true,
    format: 'esm',
    conditions: ['workerd'],
    external,
    outfile,
    // Our chunks import each other without using a name, which esbuild warns about outside of node_modules.
    logLevel: 'error',
  })
  await copyFile(hostProgram(configuration), join(folder, 'worker.capnp'))
  return folder
}

/** The arguments of workerd before the configuration file. With `--control-fd=1`, workerd prints its port. */
export const workerdArgs = ['serve', '--control-fd=1']
