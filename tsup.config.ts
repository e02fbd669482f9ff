import { mkdir, writeFile } from 'node:fs/promises'
import { defineConfig, type Options } from 'tsup'
import { STEPS } from './adapters/back-ends/sqlite/schema.ts'

const shared: Options = {
  splitting: true,
  treeshake: true,
  target: 'es2022',
  platform: 'neutral',
  external: [/^node:/],
  removeNodeProtocol: false,
}

/** Writes the migrations of D1 as the files that `wrangler d1 migrations apply` takes. */
async function writeMigrations(): Promise<void> {
  const folder = 'dist/d1/migrations'
  await mkdir(folder, { recursive: true })
  for (const [index, step] of STEPS.entries()) {
    const number = String(index + 1).padStart(4, '0')
    await writeFile(`${folder}/${number}_petstore.sql`, `${step}\n`)
  }
}

const entry = {
  index: 'src/index.ts',
  testing: 'src/testing/index.ts',
  'back-end': 'src/back-end.ts',
  bun: 'adapters/hosts/bun.ts',
  client: 'src/client/index.ts',
  d1: 'adapters/back-ends/sqlite/d1/index.ts',
  deno: 'adapters/hosts/deno.ts',
  express: 'adapters/hosts/express.ts',
  fastify: 'adapters/hosts/fastify.ts',
  fetch: 'adapters/hosts/fetch.ts',
  hono: 'adapters/hosts/hono.ts',
  koa: 'adapters/hosts/koa.ts',
  node: 'adapters/hosts/node/index.ts',
  openapi: 'src/openapi/index.ts',
  postgres: 'adapters/back-ends/postgres/index.ts',
  redis: 'adapters/back-ends/redis/index.ts',
  schemas: 'src/schemas/index.ts',
  sqlite: 'adapters/back-ends/sqlite/index.ts',
}

export default defineConfig((options): Options[] => {
  const dts = options.dts !== false && { entry, compilerOptions: { types: ['node'] } }
  return [
    // The command shares the chunks of the library. It is a program, so nobody needs it as CommonJS.
    {
      ...shared,
      entry: { ...entry, cli: 'adapters/cli/main.ts' },
      format: ['esm'],
      dts,
      clean: true,
      onSuccess: writeMigrations,
    },
    { ...shared, entry, format: ['cjs'], dts },
    {
      // The page of `petstore serve`. It runs in browsers, so it contains everything that it imports.
      entry: ['adapters/cli/page/browser/live.ts'],
      publicDir: 'adapters/cli/page/static',
      outDir: 'dist/page',
      format: ['esm'],
      platform: 'browser',
      target: 'es2022',
      noExternal: [/./],
      splitting: false,
      minify: true,
    },
  ]
})
