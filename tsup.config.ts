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
      node: 'adapters/node.ts',
      postgres: 'adapters/postgres.ts',
      redis: 'adapters/redis.ts',
      sqlite: 'adapters/sqlite.ts',
    },
    format: ['esm', 'cjs'],
    dts: options.dts !== false,
    clean: true,
  },
  { ...shared, entry: { cli: 'adapters/cli.ts' }, format: ['esm'] },
])
