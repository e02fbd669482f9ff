import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { entryPoints } from '../../support/entry-points.ts'
import { onDemand } from '../../support/on-demand.ts'
import { missing } from '../../support/skips.ts'

const root = join(import.meta.dirname, '../../..')

/** The examples that the documents show. Each key is the package of types that declares the globals of a runtime. */
const runtimes = {
  node: [
    'express.mjs',
    'express-middleware.mjs',
    'fastify.mjs',
    'h3.mjs',
    'hono.mjs',
    'koa.mjs',
    'node-http.mjs',
    'own-route.mjs',
    'own-server.mjs',
    'shop-with-own-auth.mjs',
  ],
  bun: ['bun.mjs', 'elysia.mjs', 'itty-router.mjs'],
  deno: ['deno.mjs'],
  '@cloudflare/workers-types': ['worker.mjs', 'worker-d1/worker.mjs', 'worker-postgres/worker.mjs'],
}

const TYPES = [
  '@types/bun@1.4.5',
  '@types/compression@1.8.1',
  '@types/cors@2.8.19',
  '@types/deno@2.7.0',
  '@types/koa@3.0.3',
  // Without an exact version, npm would install the newest types, which have globals that the oldest supported Node lacks.
  '@types/node@20.19.43',
]
/** What `wrangler types` writes for `wrangler.jsonc` and a secret. */
const BINDINGS = 'declare namespace Cloudflare { interface Env { DB: D1Database; ADMIN_TOKEN?: string } }'
const folder = await onDemand(...TYPES)
const skipped = missing(TYPES.join(' '), folder !== undefined)

/** Compiles examples in strict mode, as if they were next to the packages in `folder`. Returns the errors. */
function typeErrors(names: readonly string[], types: string): string {
  const textOf = (name: string) => readFileSync(join(root, 'examples', name), 'utf8')
  const files = new Map(names.map((name) => [join(folder ?? '', name), textOf(name)]))
  if (types.startsWith('@cloudflare')) files.set(join(folder ?? '', 'bindings.d.ts'), BINDINGS)
  const options: ts.CompilerOptions = {
    strict: true,
    allowJs: true,
    checkJs: true,
    maxNodeModuleJsDepth: 0,
    noEmit: true,
    skipLibCheck: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    allowImportingTsExtensions: true,
    // `@types/deno` does not declare all globals that Deno shares with browsers: it needs the types of browsers too.
    lib: ['lib.es2023.d.ts', ...(types === 'deno' ? ['lib.dom.d.ts', 'lib.dom.iterable.d.ts'] : [])],
    types: [types],
    typeRoots: [join(folder ?? '', 'node_modules/@types'), join(root, 'node_modules')],
    paths: Object.fromEntries(Object.entries(entryPoints).map(([name, file]) => [name, [join(root, file)]])),
  }
  const host = ts.createCompilerHost(options)
  const { fileExists, getSourceFile } = host
  host.fileExists = (path) => files.has(path) || fileExists(path)
  host.getSourceFile = (path, ...rest) => {
    const text = files.get(path)
    return text === undefined ? getSourceFile(path, ...rest) : ts.createSourceFile(path, text, ts.ScriptTarget.ES2022)
  }
  const program = ts.createProgram([...files.keys()], options, host)
  const problems = [
    ...program.getOptionsDiagnostics(),
    ...program.getGlobalDiagnostics(),
    ...[...files.keys()].flatMap((path) => program.getSemanticDiagnostics(program.getSourceFile(path))),
  ]
  return ts.formatDiagnostics(problems, { ...host, getNewLine: () => '\n' })
}

test('the tests below compile all examples in the documents about hosts, except that of Next.js', () => {
  const shown = ['README.md', 'docs/mounting.md'].flatMap((document) =>
    [...readFileSync(join(root, document), 'utf8').matchAll(/^```\w+ examples\/(?!next\/)(\S+)/gm)].map(
      ([, name]) => name,
    ),
  )
  expect(shown.length).toBeGreaterThan(15)
  expect(Object.values(runtimes).flat()).toEqual(expect.arrayContaining(shown))
})

test.skipIf(skipped).each(Object.entries(runtimes))(
  'the examples compile in strict mode with the types of %s',
  (types, names) => expect(typeErrors(names, types)).toBe(''),
)
