import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '../..')

/** Maps each source file in a folder to the modules that the file imports. */
function importsOf(folder: string): Map<string, string[]> {
  const files = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).filter((file) =>
    /(?<!\.d)\.ts$/.test(file),
  )
  return new Map(files.map((file) => [join(folder, file), imports(join(folder, file))]))
}

function imports(file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8').replaceAll(/\/\*[\s\S]*?\*\//g, '')
  const names = [
    ...text.matchAll(/^(?:import|export)\b[^'";]*? from '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/gm),
  ].map((match) => match[1] ?? match[2] ?? match[3] ?? '')
  return names.map((name) => (name.startsWith('.') ? relative(root, resolve(root, dirname(file), name)) : name))
}

const src = importsOf('src')
const adapters = importsOf('adapters')

/** The folders and top-level files of `src`, from top to bottom. Each may import only from entries below its own. */
const layers = [
  'index.ts',
  'back-end.ts',
  'testing',
  'client',
  'openapi',
  'pet-store.ts',
  'caller-check.ts',
  'readiness.ts',
  'memory',
  'documented-options.ts',
  'options.ts',
  'guard-ports.ts',
  'request-context.ts',
  'keys',
  'quota',
  'pets',
  'reports',
  'admission.ts',
  'http',
  'schemas',
  'support',
  'ports.ts',
  'operations.ts',
  'errors.ts',
  'model.ts',
]

/** The folders and top-level files of the command, in the same way. */
const commandLayers = [
  'main.ts',
  'serve',
  'test-double',
  'openapi',
  'page',
  'keys',
  'pets',
  'backup.ts',
  'copy.ts',
  'check.ts',
  'faults',
  'engines',
  'terminal',
]

/** The layers of a folder, from top to bottom, and the files in it. */
const houses = [
  { house: 'src', order: layers, files: src },
  {
    house: 'adapters/cli',
    order: commandLayers,
    files: new Map([...adapters].filter(([file]) => file.startsWith('adapters/cli/'))),
  },
]

/** Returns the folder of a file in a house, or the file itself at the top level. */
function layerOf(file: string, house: string): string {
  return file.slice(house.length + 1).split('/')[0] ?? ''
}

describe('the folders', () => {
  test.each(houses)('every folder and top-level file of $house is in the list of layers', ({ house, order, files }) => {
    const named = [...files.keys()].map((file) => layerOf(file, house))
    expect(order.filter((layer) => !named.includes(layer))).toEqual([])
    expect(named.filter((layer) => !order.includes(layer))).toEqual([])
  })

  test.each(houses)('a folder of $house imports only from lower layers', ({ house, order, files }) => {
    const upward = [...files].flatMap(([file, names]) =>
      names
        .filter((name) => name.startsWith(`${house}/`))
        .filter((name) => order.indexOf(layerOf(name, house)) < order.indexOf(layerOf(file, house)))
        .map((name) => `${file} imports ${name}`),
    )
    expect(upward).toEqual([])
  })

  test('the core imports no Node module, driver, framework or adapter', () => {
    const allowed = new Set([
      'itty-router/IttyRouter',
      'lru-cache',
      'lossless-json',
      'zod',
      'zod/mini',
      'fastest-levenshtein',
      'fast-check',
    ])
    for (const [file, names] of src) {
      const foreign = names.filter((name) => !name.startsWith('src/') && !allowed.has(name))
      expect({ file, foreign }).toEqual({ file, foreign: [] })
    }
  })

  test('only the contract suites use fast-check', () => {
    for (const [file, names] of src) if (names.includes('fast-check')) expect(file).toMatch(/^src\/testing\//)
  })

  test('imports form no cycle', () => {
    const all = new Map([...src, ...adapters])
    const done = new Set<string>()
    const visit = (file: string, path: readonly string[]): void => {
      expect(path).not.toContain(file)
      if (done.has(file)) return
      for (const name of all.get(file) ?? []) visit(name, [...path, file])
      done.add(file)
    }
    for (const file of all.keys()) visit(file, [])
  })

  test('only the default clock reads the time', () => {
    for (const file of [...src.keys(), ...adapters.keys()]) {
      const text = readFileSync(join(root, file), 'utf8').replaceAll(/^\s*(?:\*|\/\/|\/\*).*$/gm, '')
      if (!file.startsWith('adapters/cli') && file !== 'src/support/time.ts')
        expect(text, file).not.toMatch(/Date\.now\(|performance\.now\(|new Date\(\)/)
    }
  })

  test("tests ignore a developer's own environment variables", () => {
    const { PETSTORE_DATA, PETSTORE_DATABASE_URL, PETSTORE_REDIS_URL } = process.env
    expect([PETSTORE_DATA, PETSTORE_DATABASE_URL, PETSTORE_REDIS_URL]).toEqual(['', '', ''])
  })
})

test.each(['architecture', 'back-ends', 'recipes', 'interface'])('docs/%s.md names only existing files', (name) => {
  const folders = ['src', 'adapters', 'test', 'docs']
  const files = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => `/${join(folder, file)}`),
  )
  const exists = (name: string) => existsSync(join(root, name)) || files.some((file) => file.endsWith(`/${name}`))
  const page = readFileSync(join(root, `docs/${name}.md`), 'utf8')
  const named = [...page.matchAll(/`([\w./-]+\.(?:ts|md|json|html))`/g)].map(([, name = '']) => name)
  expect(named.length).toBeGreaterThan(0)
  expect(named.filter((name) => !exists(name))).toEqual([])
})
