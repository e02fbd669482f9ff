import { describe, expect, test } from 'vitest'
import { type PostgresClient, postgres } from '../../../adapters/back-ends/postgres/index.ts'

const error = (members: object, message = 'failed') => Object.assign(new Error(message), members)

/** Returns the storage on a client whose statements all fail, and counts them. */
function failing(cause: unknown) {
  const counts = { statements: 0 }
  const query: PostgresClient['query'] = () => {
    counts.statements++
    return Promise.reject(cause)
  }
  return { storage: postgres({ query }).storage, counts }
}

describe('errors of PostgreSQL', () => {
  test.each([
    ...['08000', '08001', '08003', '08004', '08006', '08P01'],
    ...['2200H', '25006', '25P03', '25P04', '40003'],
    ...['53000', '53100', '53200', '53300', '53400', '54000', '55000', '55006', '55P03'],
    ...['57000', '57014', '57P01', '57P02', '57P03', '57P04', '57P05'],
    ...['58000', '58030', '58P01', 'XX000', 'XX001'],
  ])('SQLSTATE %s is 503 after one statement', async (code) => {
    const cause = error({ code, severity: 'ERROR' })
    const { storage, counts } = failing(cause)
    const creates = Array.from({ length: 40 }, () =>
      storage.create({ name: 'Rex', categoryId: 1n, status: 'available' }),
    )
    for (const create of await Promise.allSettled(creates))
      expect(create).toMatchObject({ reason: { code: 'service_unavailable', cause } })
    expect(counts.statements).toBe(1)
    await expect(storage.list({ limit: 1 })).rejects.toMatchObject({ code: 'service_unavailable', cause })
  })

  test.each(['40001', '40P01', '42P07'])('SQLSTATE %s is repeated, and then 503', async (code) => {
    const { storage, counts } = failing(error({ code }))
    await expect(storage.list({ limit: 1 })).rejects.toMatchObject({ code: 'service_unavailable' })
    expect(counts.statements).toBe(20)
  })

  test.each(['22021', '22P02', '22P05', '23505', '23514', '28P01', '3D000', '42501', '42P01', 'P0001'])(
    'SQLSTATE %s is a fault, not 503',
    async (code) => {
      await expect(failing(error({ code })).storage.list({ limit: 1 })).rejects.toMatchObject({ code })
    },
  )

  test.each([
    ['a socket of Node', error({ code: 'ECONNREFUSED', syscall: 'connect' })],
    ['a broken pipe', error({ code: 'EPIPE', syscall: 'write' })],
    ['a host name with several addresses', error({ errors: [error({ code: 'ECONNREFUSED', syscall: 'connect' })] })],
    ['pg', error({}, 'Connection terminated unexpectedly')],
    [
      'a Client of pg that has lost its connection',
      error({}, 'Client has encountered a connection error and is not queryable'),
    ],
    ['pg with connectionTimeoutMillis', error({}, 'Connection terminated due to connection timeout')],
    ['a pool that was closed', error({}, 'Cannot use a pool after calling end on the pool')],
    ['pg with query_timeout', error({}, 'Query read timeout')],
    ['pg-pool', error({}, 'timeout exceeded when trying to connect')],
    ['PGlite', error({}, 'PGlite is closed')],
    ['postgres.js', error({ code: 'CONNECTION_CLOSED' })],
    ['postgres.js while it connects', error({ code: 'CONNECT_TIMEOUT' })],
    ['Workers', error({}, 'proxy request failed, cannot connect to the specified address')],
    ['Bun', error({ code: 'ERR_POSTGRES_CONNECTION_CLOSED' })],
    ['Bun with a SQLSTATE', error({ code: 'ERR_POSTGRES_SERVER_ERROR', errno: '57P01' })],
    ["fetch of Neon's driver", error({ sourceError: new TypeError('fetch failed') }, 'Error connecting to database')],
    ["the proxy of Neon's driver", error({}, 'Server error (HTTP status 503): no compute')],
  ])('a lost connection of %s is 503', async (_, cause) => {
    await expect(failing(cause).storage.list({ limit: 1 })).rejects.toMatchObject({
      code: 'service_unavailable',
      cause,
    })
  })

  test('a statement that succeeds when it is repeated returns its result', async () => {
    let losses = 3
    const query: PostgresClient['query'] = async () => {
      if (losses-- > 0) throw error({ code: '40001' })
      return { rows: [] }
    }
    expect(await postgres({ query }).storage.list({ limit: 1 })).toEqual([])
  })

  test.each([undefined, null, {}, 'postgres://localhost', { query: 7 }])('rejects the client %j', (client) => {
    expect(() => postgres(client as never)).toThrow('option client: expected an object with query(text, values)')
  })

  test('a rejected value on Bun fails alone', async () => {
    const query: PostgresClient['query'] = async (_text, values) => {
      const pets = JSON.parse(String(values?.[0])) as { name: string }[]
      if (pets.some(({ name }) => name === 'refused'))
        throw error({ code: 'ERR_POSTGRES_SERVER_ERROR', errno: '23514' })
      return { rows: pets.map((pet, index) => ({ ...pet, id: String(index + 1), same: null })) }
    }
    const { storage } = postgres({ query })
    const names = ['a', 'refused', 'b', 'c']
    const results = await Promise.allSettled(
      names.map((name) => storage.create({ name, categoryId: 1n, status: 'available' })),
    )
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled'])
  })

  test.each([
    ['the rows themselves, as postgres.js and Neon', [{ id: '1' }], 'an array'],
    ['nothing', undefined, 'nothing'],
  ])('a client that returns %s gets an error that says how to wrap it', async (_, result, got) => {
    const { storage } = postgres({ query: async () => result as never })
    await expect(storage.list({ limit: 1 })).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringMatching(
        new RegExp(`^option client: expected .*\\{ rows \\}, got ${got}\\. Wrap the driver: `),
      ),
    })
  })
})
