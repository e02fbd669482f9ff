import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build, type Plugin } from 'esbuild'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** A fault that a test puts into a source file of the PostgreSQL back end, to check that the simulation finds the fault. */
export interface Edit {
  /** The name of a file in `adapters/back-ends/postgres`. */
  readonly file: string
  readonly from: string
  readonly to: string
}

/**
 * Bundles the simulation with the edited sources of the back end, and with timers and random numbers of its own.
 *
 * @throws if a file does not contain the text `from` of its edit exactly once, because then the edit cannot be made
 */
export async function loadSimulation(edits: readonly Edit[] = []): Promise<typeof import('./simulation.ts')> {
  const name = createHash('sha256').update(JSON.stringify(edits)).digest('hex').slice(0, 16)
  const outfile = `${root}/.cache/simulation/${name}.mjs`
  const made = new Set<Edit>()
  await build({
    absWorkingDir: root,
    entryPoints: ['test/simulation/simulation.ts'],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    inject: ['test/simulation/clock.ts'],
    define: { 'Math.random': 'random' },
    logLevel: 'error',
    plugins: [editing(edits, made)],
  })
  for (const edit of edits) if (!made.has(edit)) throw new Error(`nobody imports ${edit.file}`)
  return import(pathToFileURL(outfile).href)
}

function editing(edits: readonly Edit[], made: Set<Edit>): Plugin {
  return {
    name: 'edits',
    setup({ onLoad }) {
      onLoad({ filter: /back-ends[\\/]postgres[\\/]\w+\.ts$/ }, async ({ path }) => {
        let contents = await readFile(path, 'utf8')
        for (const edit of edits.filter(({ file }) => file === basename(path))) {
          const count = contents.split(edit.from).length - 1
          if (count !== 1) throw new Error(`${edit.file} must contain this text once, not ${count} times: ${edit.from}`)
          contents = contents.replace(edit.from, () => edit.to)
          made.add(edit)
        }
        return { contents, loader: 'ts' }
      })
    },
  }
}
