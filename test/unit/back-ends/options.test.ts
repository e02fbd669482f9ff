import { describe, expect, test } from 'vitest'
import { postgres } from '../../../adapters/back-ends/postgres/index.ts'
import { redis } from '../../../adapters/back-ends/redis/index.ts'
import { sqlite } from '../../../adapters/back-ends/sqlite/index.ts'
import { cachedKeyStore } from '../../../src/index.ts'

describe('the error about an invalid option of a back end', () => {
  const database = { prepare: () => ({ all: () => [], run: () => {} }), exec: () => {} }
  const makers: [string, (options: object) => unknown, [option: string, value: unknown, place?: string][]][] = [
    [
      'redis',
      (options) => redis(async () => '', options),
      [
        ['clock', 5],
        ['prefx', 'a'],
      ],
    ],
    [
      'postgres',
      (options) => postgres({ query: async () => ({ rows: [] }) }, options),
      [
        ['clock', 5],
        ['keyCache', true],
        ['shema', 'a'],
      ],
    ],
    [
      'sqlite',
      (options) => sqlite(database, options),
      [
        ['clock', 5],
        ['keyCache', { tll: 1 }, 'keyCache.tll'],
        ['keyCache', { ttl: -1 }, 'keyCache.ttl'],
        ['busyTimeout', -1],
        ['synchronous', 'most'],
        ['synchronus', 'off'],
      ],
    ],
    [
      'cachedKeyStore',
      (options) => cachedKeyStore({ find: () => undefined }, options),
      [
        ['clock', 5],
        ['ttl', '1'],
        ['maximum', 1],
      ],
    ],
  ]
  test.each(
    makers.flatMap(([name, make, wrong]) =>
      wrong.map(([option, value, place = option]) => ({ name, make, option, value, place })),
    ),
  )('the error of $name contains the invalid option $option: $value', ({ make, option, value, place }) => {
    expect(() => make({ [option]: value })).toThrow(
      expect.objectContaining({
        code: 'invalid_option',
        message: expect.stringMatching(`^option ${place}: expected `),
      }),
    )
  })
})

test.each([
  ['arrays', [[0, 'main', '']], 'rows such as [0,"main",""]'],
  ['a promise', Promise.resolve([]), 'a promise'],
])('sqlite rejects a connection whose rows are %s', (_, rows, received) => {
  const statement = { all: () => rows as unknown[], run: () => {} }
  expect(() => sqlite({ prepare: () => statement, exec: () => {} })).toThrow(
    expect.objectContaining({ code: 'invalid_option', message: expect.stringContaining(`got ${received}: `) }),
  )
})

test.each([false, {}, { ttl: 5, max: 5 }, { clock: Date }] as const)('a back end accepts keyCache %j', (keyCache) => {
  expect(() => postgres({ query: async () => ({ rows: [] }) }, { keyCache })).not.toThrow()
})
