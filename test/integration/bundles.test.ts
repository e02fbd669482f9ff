import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { build } from 'vite'
import { afterAll, beforeAll, expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '../..')
const dist = join(root, 'dist')

/** Inside the package, from where a program imports the package by its name. */
let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(root, '.cache-bundles-'))
})
afterAll(() => rm(folder, { recursive: true }))

/** Bundles a program for browsers, with all that it imports, into one scope whose names terser gets as they were written. */
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

test('a bundle works whose own code catches at its top level', async () => {
  const file = await bundle(`
    import { createPetStore } from 'petstore-kit'
    try { JSON.parse('') } catch (e) { globalThis.caught = e }
    globalThis.answer = createPetStore().fetch(new Request('http://x/v1/pets'))
  `)
  await import(file)
  const { answer } = globalThis as unknown as { answer: Promise<Response> }
  expect((await answer).status).toBe(401)
})

test('bundlers can follow whatever CommonJS requires', async () => {
  for (const name of (await readdir(dist)).filter((name) => name.endsWith('.cjs'))) {
    const code = await readFile(join(dist, name), 'utf8')
    expect(code.match(/(?<!\w)require\b(?!\((["'])[^"']+\1\))/g), name).toBe(null)
  }
})
