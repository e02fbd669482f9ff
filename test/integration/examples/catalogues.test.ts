import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { PostgresBackEnd, PostgresClient, PostgresOptions } from '../../../adapters/back-ends/postgres/index.ts'
import { type ApiKey, createPetStore, type PetStorage } from '../../../src/index.ts'
import { httpContract, keyStoreContract, quotaContract, storageContract } from '../../../src/testing/index.ts'
import { startProgram } from '../../conformance/start-host.ts'
import { noPostgres, usePostgres } from '../../support/use-postgres.ts'
import { readCommand } from './read-command.ts'

type BackEnd = PostgresBackEnd & { readonly catalogueOf: (owner?: string) => Promise<PetStorage> }

interface Example {
  readonly catalogues: (client: PostgresClient, options?: PostgresOptions) => BackEnd
  readonly schemaOf: (owner: string) => string
}

const folder = join(import.meta.dirname, '../../../examples/catalogues')
// The example imports the package from `dist`.
const { catalogues, schemaOf }: Example = await import(
  /* @vite-ignore */ pathToFileURL(join(folder, 'back-end.mjs')).href
)
const runner = { describe, test }
const close = async () => {}

describe.skipIf(noPostgres)('a catalogue for each account', () => {
  const database = usePostgres({ max: 8 })
  beforeAll(() => catalogues(database.pool).migrate())

  /** Returns a storage whose calls have this key, as those of a request have. */
  function withKey(storage: PetStorage, key: ApiKey): PetStorage {
    return {
      list: (query, context) => storage.list(query, { ...context, key }),
      create: (pet, options, context) => storage.create(pet, options, { ...context, key }),
      get: (id, context) => storage.get(id, { ...context, key }),
    }
  }

  const acme = { id: 'desk', plan: 'free', account: 'acme' }
  storageContract(runner, {
    name: 'the catalogue of an account',
    runs: 8,
    async open(clock) {
      const open = () => withKey(catalogues(database.pool, { clock }).storage, acme)
      await open().list({ limit: 1 })
      const schema = schemaOf('account:acme')
      await database.pool.query(`TRUNCATE ${schema}.pets, ${schema}.used_keys`)
      return { port: open(), close, reopen: open }
    },
  })

  const opening =
    <Name extends 'keyStore' | 'quota'>(name: Name) =>
    async (clock?: PostgresOptions['clock']) => {
      await database.pool.query('TRUNCATE petstore.keys, petstore.quota')
      const open = () => catalogues(database.pool, { clock })[name]
      return { port: open(), close, reopen: open }
    }
  keyStoreContract(runner, { name: 'catalogues', runs: 4, open: opening('keyStore') })
  quotaContract(runner, { name: 'catalogues', runs: 4, open: opening('quota') })

  const TOKEN = 'of-acme'
  const keys: Record<string, ApiKey> = {
    [TOKEN]: { ...acme, plan: 'business' },
    'of-acme-too': { ...acme, id: 'till', plan: 'business' },
    'of-zoo': { ...acme, account: 'zoo' },
    alone: { id: 'acme', plan: 'free' },
  }
  const keyStore = { find: (token: string) => keys[token] }
  const start = () => {
    const backEnd = catalogues(database.pool)
    const petStore = createPetStore({ ...backEnd, keyStore })
    const send = (path: string, token: string, init: RequestInit = {}) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...init.headers }
      return petStore.fetch(`http://a/v1${path}`, { ...init, headers })
    }
    const add = (name: string, token: string, headers = {}) =>
      send('/pets', token, { method: 'POST', headers, body: JSON.stringify({ name, categoryId: 1 }) })
    const names = async (token: string, query = '') => {
      const pets = (await (await send(`/pets${query}`, token)).json()) as { name: string }[]
      return pets.map(({ name }) => name)
    }
    return { backEnd, petStore, send, add, names }
  }

  test('each account lists, gets and adds only its own animals', async () => {
    const { add, names, send } = start()
    const owners = ['of-acme', 'of-zoo', 'alone']
    const before = await Promise.all(owners.map((owner) => names(owner, '?limit=100')))
    for (const owner of owners) expect((await add(`Rex ${owner}`, owner)).status).toBe(201)
    const after = await Promise.all(owners.map((owner) => names(owner, '?limit=100')))
    expect(after).toEqual(owners.map((owner, i) => [...(before[i] ?? []), `Rex ${owner}`]))
    expect(await names('of-acme-too', '?limit=100')).toEqual(after[0])
    const location = (await add('Mia', 'of-acme')).headers.get('location') ?? ''
    expect((await send(location.slice('/v1'.length), 'of-acme-too')).status).toBe(200)
    expect((await send(location.slice('/v1'.length), 'of-zoo')).status).toBe(404)
  })

  test('an idempotency key and a cursor of one account mean nothing in another', async () => {
    const { add, names, send } = start()
    const headers = { 'idempotency-key': 'order-1' }
    const first = await add('Ada', 'of-acme', headers)
    const ofZoo = await add('Bob', 'of-zoo', headers)
    expect([first.headers.get('idempotency-replayed'), ofZoo.headers.get('idempotency-replayed')]).toEqual([null, null])
    expect((await add('Ada', 'of-acme-too', headers)).headers.get('idempotency-replayed')).toBe('true')
    await add('Cleo', 'of-acme')
    const page = await send('/pets?limit=1', 'of-acme')
    const after = await names('of-zoo', `?limit=100&cursor=${page.headers.get('x-next-cursor')}`)
    expect(await names('of-zoo', '?limit=100')).toEqual(expect.arrayContaining(after))
  })

  test('the host has a catalogue of its own, and reads that of an account by its name', async () => {
    const { backEnd, petStore, names } = start()
    await petStore.pets.add({ name: 'Of the host', categoryId: 1 })
    const storage = await backEnd.catalogueOf('account:acme')
    await createPetStore({ ...backEnd, storage }).pets.add({ name: 'For acme', categoryId: 1 })
    expect((await petStore.pets.list()).map(({ name }) => name)).toEqual(['Of the host'])
    const all = await Promise.all(Object.keys(keys).map((token) => names(token, '?limit=100')))
    expect(all.map((list) => list.includes('Of the host'))).toEqual([false, false, false, false])
    expect(all.map((list) => list.includes('For acme'))).toEqual([true, true, false, false])
    expect(await petStore.ready()).toEqual({ ok: true, failing: [] })
  })

  test('any text may be the name of an account', async () => {
    const { backEnd } = start()
    const owners = ['account:"; DROP SCHEMA petstore; --', `account:${'x'.repeat(200)}`, 'account:x', 'account:X']
    const opened = owners.map(async (owner) => {
      const { pets } = createPetStore({ ...backEnd, storage: await backEnd.catalogueOf(owner) })
      await pets.add({ name: owner.slice(0, 20), categoryId: 1 })
      return pets.count()
    })
    expect(await Promise.all(opened)).toEqual([1, 1, 1, 1])
  })

  test('server.mjs serves the catalogue of each account', async () => {
    const env = { PORT: '0', DATABASE_URL: database.url }
    const { value, stop } = await startProgram([process.execPath, join(folder, 'server.mjs')], readCommand, { env })
    onTestFinished(stop)
    const headers = { authorization: `Bearer ${value.token}` }
    expect(await (await fetch(`${value.url}?limit=100`, { headers })).text()).toContain('"name":"Rex"')
  })

  let served: ReturnType<typeof start> | undefined
  const fetchServed = (input: unknown, init?: RequestInit) => {
    served ??= start()
    return served.petStore.fetch(String(input), init)
  }
  httpContract(runner, { baseUrl: 'http://localhost/v1', token: TOKEN, fetch: fetchServed as typeof fetch })
})
