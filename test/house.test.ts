import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '..')

/** Every source file of a folder, with the files and packages that it imports. */
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
const stages = ['authenticate', 'quota', 'routes', 'pets', 'cors', 'deprecation', 'fault'].map(
  (stage) => `src/${stage}.ts`,
)

describe('the house', () => {
  test('has something to look at', () => {
    expect(src.size).toBeGreaterThan(20)
    expect(src.get('src/pet-store.ts')).toContain('src/quota/rate-limit.ts')
  })

  test('the core imports no Node module, no driver, no framework and no adapter', () => {
    const allowed = new Set(['zod/mini', 'itty-router/IttyRouter', 'lru-cache', 'lossless-json', 'fast-check'])
    for (const [file, names] of src) {
      const foreign = names.filter((name) => !name.startsWith('src/') && !allowed.has(name))
      expect({ file, foreign }).toEqual({ file, foreign: [] })
    }
  })

  test('only the testing part knows fast-check', () => {
    for (const [file, names] of src) if (names.includes('fast-check')) expect(file).toMatch(/^src\/testing\//)
  })

  test('adapters enter the core by its two doors', () => {
    for (const [file, names] of adapters) {
      const inner = names.filter((name) => name.startsWith('src/') && !['src/index.ts', 'src/door.ts'].includes(name))
      expect({ file, inner }).toEqual({ file, inner: [] })
    }
  })

  test('a stage imports no other stage, but for the types that it is given', () => {
    for (const stage of stages) {
      const text = readFileSync(join(root, stage), 'utf8')
      const values = [...text.matchAll(/^import (?!type )[^'";]*? from '\.\/([\w-]+\.ts)'/gm)].map(
        (match) => `src/${match[1]}`,
      )
      expect({ stage, others: values.filter((name) => stages.includes(name)) }).toEqual({ stage, others: [] })
    }
  })

  test('no imports run in a circle', () => {
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
      if (!file.startsWith('adapters/cli') && file !== 'src/support/system-clock.ts')
        expect(text, file).not.toMatch(/Date\.now\(|performance\.now\(|new Date\(\)/)
    }
  })

  test('no test touches what a developer has set for a store of their own', () => {
    const { PETSTORE_DATA, PETSTORE_DATABASE_URL, PETSTORE_REDIS_URL } = process.env
    expect([PETSTORE_DATA, PETSTORE_DATABASE_URL, PETSTORE_REDIS_URL]).toEqual(['', '', ''])
  })
})
