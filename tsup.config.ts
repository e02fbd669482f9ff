import { defineConfig, type Options } from 'tsup'

const shared: Options = {
  splitting: true,
  treeshake: true,
  target: 'es2022',
  platform: 'neutral',
  external: [/^node:/],
}

export default defineConfig((options): Options[] => [
  {
    ...shared,
    entry: {
      index: 'src/index.ts',
      testing: 'src/testing/index.ts',
      bun: 'adapters/bun.ts',
      deno: 'adapters/deno.ts',
      express: 'adapters/express.ts',
      fastify: 'adapters/fastify.ts',
      node: 'adapters/node.ts',
    },
    format: ['esm', 'cjs'],
    dts: options.dts !== false && { compilerOptions: { types: ['node'] } },
    clean: true,
  },
  { ...shared, entry: { cli: 'adapters/cli.ts' }, format: ['esm'] },
])
