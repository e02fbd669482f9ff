import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { build } from 'vite'
import { afterAll, beforeAll, expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '../..')
const dist = join(root, 'dist')

/** A folder inside the package, so that a program in it can import the package by its name. */
let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(root, '.cache-bundles-'))
})
afterAll(() => rm(folder, { recursive: true }))

/** Bundles a program and its imports for browsers, into one scope that terser minifies. */
async function bundle(program: string): Promise<string> {
  const input = join(folder, 'program.mjs')
  await writeFile(input, program)
  await build({
    root: folder,
    logLevel: 'silent',
    esbuild: false,
    build: {
      minify: 'terser',
      rollupOptions: { input, output: { entryFileNames: 'bundle.mjs', format: 'iife' } },
      outDir: folder,
    },
  })
  return join(folder, 'bundle.mjs')
}

test('the package works in a minified bundle whose program has a top-level try statement', async () => {
  const file = await bundle(`
    import { createPetStore } from 'petstore-kit'
    try { JSON.parse('') } catch (e) { globalThis.caught = e }
    globalThis.response = createPetStore().fetch(new Request('http://x/v1/pets'))
  `)
  await import(file)
  const { response } = globalThis as unknown as { response: Promise<Response> }
  expect((await response).status).toBe(401)
})

test('the CommonJS files call require only with literal names, for bundlers', async () => {
  for (const name of (await readdir(dist)).filter((name) => name.endsWith('.cjs'))) {
    const code = await readFile(join(dist, name), 'utf8')
    expect(code.match(/(?<!\w)require\b(?!\((["'])[^"']+\1\))/g), name).toBe(null)
  }
})
