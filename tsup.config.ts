import { defineConfig } from 'tsup'

const shared = { splitting: true, treeshake: true, sourcemap: false, target: 'es2022', platform: 'neutral' } as const

export default defineConfig((options) => [
  {
    ...shared,
    entry: {
      index: 'src/index.ts',
      testing: 'src/testing/index.ts',
      node: 'adapters/node.ts',
    },
    format: ['esm', 'cjs'],
    dts: options.dts !== false,
    external: [/^node:/],
    clean: true,
  },
  {
    ...shared,
    entry: { cli: 'adapters/cli.ts' },
    format: ['esm'],
    external: [/^node:/],
  },
])
