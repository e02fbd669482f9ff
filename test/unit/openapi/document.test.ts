import { inspect } from 'node:util'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, test } from 'vitest'
import { type ErrorCode, errorTable } from '../../../src/errors.ts'
import { matchRoute } from '../../../src/http/routes.ts'
import { createPetStore, type PetStoreOptions } from '../../../src/index.ts'
import { openApiDocument } from '../../../src/openapi/index.ts'
import { operationNames, unmatchedErrorCodes } from '../../../src/operations.ts'
import { createTestPetStore } from '../../../src/testing/index.ts'

interface Operation {
  readonly operationId: string
  readonly description: string
  readonly deprecated?: boolean
  readonly responses: Readonly<Record<string, { readonly content: { 'application/json': { examples?: object } } }>>
}

const plans = { free: { perMinute: 10, perDay: 100 }, 'gold|<b>': { perMinute: 2_000, perDay: 3_000_000 } }
const documents: readonly (readonly [string, PetStoreOptions])[] = [
  ['no options', {}],
  ['an address and plans', { publicUrl: 'https://api.shop.test', basePath: '/shop/v1', plans }],
  ['other rules', { ban: false, cors: true, readOnly: true, sunset: 'announce', plans }],
  ['the base path /', { basePath: '/' }],
]

/** Returns the document of a new store with these options. */
function documentOf(options: PetStoreOptions = {}) {
  return openApiDocument(createPetStore(options))
}

describe.each(documents)('with %s', (_, options) => {
  const document = documentOf(options)

  test('the document passes the recommended-strict rules of Redocly', async () => {
    const config = await createConfig({ extends: ['recommended-strict'] })
    const problems = await lintFromString({ source: JSON.stringify(document), config })
    expect(problems.map(({ ruleId, message, location }) => ({ ruleId, message, at: location[0]?.pointer }))).toEqual([])
  })

  test('the document is valid under the JSON Schema of OpenAPI', async () => {
    const { valid, errors } = await new Validator().validate(document)
    expect({ valid, errors }).toMatchObject({ valid: true })
  })
})

describe('the operations', () => {
  const { paths, components } = documentOf()
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ place: `${method} ${path}`, ...(operation as Operation) })),
  )

  test('the document has every operation of the table, at its route', () => {
    expect(operations.map(({ operationId }) => operationId)).toEqual(operationNames)
    for (const { place, operationId } of operations) {
      const [method = '', path = ''] = place.split(' ')
      expect(matchRoute(method.toUpperCase(), path).operation).toBe(operationId)
    }
  })

  test('each error code has an example under its status', () => {
    for (const [code, { status }] of Object.entries(errorTable)) {
      if (unmatchedErrorCodes.includes(code as ErrorCode)) continue
      const statuses = operations.flatMap(({ responses }) =>
        Object.entries(responses)
          .filter(([, { content }]) => Object.keys(content['application/json'].examples ?? {}).includes(code))
          .map(([declared]) => declared),
      )
      expect({ code, statuses: [...new Set(statuses)] }).toEqual({ code, statuses: [String(status)] })
      expect(components.examples[code]).toMatchObject({ value: { code, status } })
    }
  })
})

describe('the headers', () => {
  const { headers } = documentOf().components as { headers: Record<string, Record<string, unknown>> }

  test('each header has an example', () => {
    for (const [name, header] of Object.entries(headers))
      expect({ name, hasExample: 'example' in header || 'examples' in header }).toEqual({ name, hasExample: true })
  })

  test('the first example of each next-page header is empty, for mock servers', () => {
    for (const name of ['NextPage', 'X-Next-Cursor'])
      expect(Object.values(headers[name]?.examples as object)[0]).toMatchObject({ value: '' })
  })
})

describe('the texts', () => {
  test('the document states the limits that the options set', () => {
    const { paths, components } = documentOf({ bodyLimit: 2_000, maxNameLength: 50, defaultStatus: 'pending' })
    expect(paths['/pets']?.post).toMatchObject({ description: expect.stringContaining('more than 2,000 bytes') })
    expect(components.schemas.PetToAdd).toMatchObject({
      properties: { name: { maxLength: 50 }, status: { default: 'pending' } },
    })
    expect(components.examples.payload_too_large).toMatchObject({
      value: { message: expect.stringContaining('2000 bytes') },
    })
  })
})

describe('the schemas', () => {
  const { schemas } = documentOf().components as { schemas: Record<string, Record<string, unknown>> }

  test('the schemas allow further members and error codes', () => {
    expect(JSON.stringify(schemas)).not.toMatch(/additionalProperties|safe/)
    expect(schemas.Error?.properties).toMatchObject({ code: { type: 'string' } })
    expect(schemas.Error?.properties).not.toHaveProperty('code.enum')
  })

  test('the schemas state that ids are int64', () => {
    const int64 = { type: 'integer', format: 'int64' }
    expect(schemas.Pet?.properties).toMatchObject({ id: int64, categoryId: int64 })
    expect(schemas.PetToAdd?.properties).toMatchObject({ categoryId: int64 })
  })
})

describe('the options', () => {
  const urlOf = (options: PetStoreOptions) => documentOf(options).servers[0]?.url

  test.each([
    [{}, '/v1'],
    [{ basePath: '/' }, '/'],
    [{ basePath: '/shop/v1/' }, '/shop/v1'],
    [{ publicUrl: 'https://api.example' }, 'https://api.example/v1'],
    [{ publicUrl: 'https://api.example/' }, 'https://api.example/v1'],
    [{ publicUrl: 'https://api.example/shop' }, 'https://api.example/shop/v1'],
    [{ publicUrl: 'https://api.example/shop/v1' }, 'https://api.example/shop/v1'],
    [{ publicUrl: 'https://api.example', basePath: '/' }, 'https://api.example'],
  ])('the options %j give the server URL %s', (options, url) => {
    expect(urlOf(options)).toBe(url)
  })

  test('the option plans adds plans to those of the specification', () => {
    const { info, 'x-rate-limits': limits } = documentOf({ plans })
    expect(limits).toEqual({
      ...plans,
      pro: { perMinute: 300, perDay: 10_000 },
      business: { perMinute: 1_000, perDay: 100_000 },
    })
    expect(info.description).toContain('| free | 10 | 100 |\n')
    expect(info.description).toContain('| gold\\|\\<b\\> | 2,000 | 3,000,000 |\n')
  })

  test('with sunset announce, the document does not say that getPet is removed', () => {
    const { paths, components, info } = documentOf({ sunset: 'announce' })
    const getPet = paths['/pets/{petId}']?.get as Operation
    expect(getPet.description).toContain('The removal is announced for 5 December 2030.')
    expect(getPet.responses).not.toHaveProperty('410')
    expect(components.examples).not.toHaveProperty('operation_removed')
    expect(info.description).not.toContain('operation_removed')
  })

  test('the document says that a store is read-only', () => {
    const { post } = documentOf({ readOnly: true }).paths['/pets'] as { post: Operation }
    expect(post.description).toContain('each request gets 503')
  })

  test.each([
    [false, undefined],
    [true, 'Web pages of any origin may send requests.'],
    [{ origins: ['https://shop.example'] }, 'Web pages of certain other origins may send requests.'],
  ])('with cors %j, the document says %s', (cors, text = '') => {
    const [found = ''] = /Web pages [^.]+\./.exec(documentOf({ cors }).info.description) ?? []
    expect(found).toBe(text)
  })
})

describe('the store', () => {
  test('a copy of a store has the document of the store', () => {
    const petStore = createPetStore({ plans })
    expect(openApiDocument({ ...petStore, handle: petStore.handle })).toEqual(openApiDocument(petStore))
  })

  test('a test store has the document of a store with the same options', async () => {
    const testStore = await createTestPetStore({ plans })
    expect(openApiDocument(testStore)).toEqual(documentOf({ plans }))
    expect(openApiDocument(testStore.petStore)).toEqual(documentOf({ plans }))
  })

  test.each([[undefined], [{ basePath: '/v1' }], [{ fetch: () => {}, handle: () => {} }]])(
    'anything else is rejected: %j',
    (value) => {
      expect(() => openApiDocument(value as never)).toThrow(/^option petStore: expected a pet store /)
    },
  )

  test('a printed store does not show its options', () => {
    expect(inspect(createPetStore({ plans: { 'secret-plan': { perMinute: 1, perDay: 1 } } }))).not.toContain(
      'secret-plan',
    )
  })
})
