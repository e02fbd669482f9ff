import { defineConfig, type Options } from 'tsup'

const shared: Options = {
  splitting: true,
  treeshake: true,
  target: 'es2022',
  platform: 'neutral',
  external: [/^node:/],
  removeNodeProtocol: false,
  // zod's entries load every locale: 50 ms at each start. What is used of it is bundled instead.
  noExternal: [/^zod/],
  // Folds what is used once into where it is used, and stays readable.
  minify: 'terser',
  terserOptions: {
    module: true,
    mangle: false,
    ecma: 2020,
    compress: {
      passes: 4,
      keep_fargs: false,
      unsafe_arrows: true,
      reduce_funcs: false,
      unsafe_methods: true,
    },
    // Also a chunk that only passes others on must have a text, or tsup takes it for a failure.
    format: { beautify: true, preamble: '// petstore-kit, MIT' },
  },
}

export default defineConfig((options): Options[] => [
  {
    ...shared,
    entry: {
      index: 'src/index.ts',
      testing: 'src/testing/index.ts',
      bun: 'adapters/hosts/bun.ts',
      deno: 'adapters/hosts/deno.ts',
      express: 'adapters/hosts/express.ts',
      fastify: 'adapters/hosts/fastify.ts',
      node: 'adapters/hosts/node/index.ts',
      postgres: 'adapters/back-ends/postgres/index.ts',
      redis: 'adapters/back-ends/redis/index.ts',
      sqlite: 'adapters/back-ends/sqlite/index.ts',
    },
    format: ['esm', 'cjs'],
    dts: options.dts !== false && {
      compilerOptions: { types: ['node'] },
      // By its entry alone can a consumer's declarations name a type of a chunk, and TypeScript must have seen the entry.
      banner: "import type {} from 'petstore-kit'",
    },
    clean: true,
    // Of a CommonJS module Jest, as most people run it, refuses an import that is one of the language, and webpack warns of
    // what esbuild would put in its place, in every chunk that it is put into.
    plugins: [
      {
        name: 'require-where-imported',
        renderChunk(code) {
          return this.format === 'cjs' ? { code: code.replaceAll('await import(', 'require(') } : undefined
        },
      },
    ],
  },
  { ...shared, entry: { cli: 'adapters/cli/main.ts' }, format: ['esm'] },
])
