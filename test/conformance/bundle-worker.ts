import { copyFile, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { hostProgram } from './start-host.ts'

/**
 * Makes what workerd starts of a program: a folder with the one module into which all that it imports is bundled, as
 * wrangler does, and the configuration.
 */
export async function bundleWorker(program: string, configuration = 'worker.capnp'): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'petstore-kit-'))
  const outfile = join(folder, 'worker.js')
  const external = ['node:*', 'cloudflare:*']
  await build({ entryPoints: [program], bundle: true, format: 'esm', conditions: ['workerd'], external, outfile })
  await copyFile(hostProgram(configuration), join(folder, 'worker.capnp'))
  return folder
}

/** What comes before the configuration on workerd's command line: it tells its port on its output. */
export const workerdArgs = ['serve', '--control-fd=1']
