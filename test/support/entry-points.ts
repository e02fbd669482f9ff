/** The entry points of the package, with their source files. */
export const entryPoints: Readonly<Record<string, string>> = {
  'petstore-kit': 'src/index.ts',
  'petstore-kit/back-end': 'src/back-end.ts',
  'petstore-kit/client': 'src/client/index.ts',
  'petstore-kit/openapi': 'src/openapi/index.ts',
  'petstore-kit/testing': 'src/testing/index.ts',
  'petstore-kit/node': 'adapters/hosts/node/index.ts',
  'petstore-kit/express': 'adapters/hosts/express.ts',
  'petstore-kit/fastify': 'adapters/hosts/fastify.ts',
  'petstore-kit/fetch': 'adapters/hosts/fetch.ts',
  'petstore-kit/bun': 'adapters/hosts/bun.ts',
  'petstore-kit/deno': 'adapters/hosts/deno.ts',
  'petstore-kit/schemas': 'src/schemas/index.ts',
  'petstore-kit/sqlite': 'adapters/back-ends/sqlite/index.ts',
  'petstore-kit/postgres': 'adapters/back-ends/postgres/index.ts',
  'petstore-kit/d1': 'adapters/back-ends/sqlite/d1/index.ts',
  'petstore-kit/redis': 'adapters/back-ends/redis/index.ts',
}
