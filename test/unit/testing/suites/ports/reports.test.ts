import { describe, expect, test } from 'vitest'
import { type Clock, memory, type Pet, type PetQuery, type PetStorage } from '../../../../../src/index.ts'
import { keyStoreContract, quotaContract, storageContract, type TestRunner } from '../../../../../src/testing/index.ts'
import { close, expectFailure, firstFailure, openFaulty, pageOf, timer } from './planted-faults.ts'

describe('the contract suites', () => {
  test('reports a storage that loses its animals when reopened', async () => {
    const open = async () => ({ port: memory().storage, close, reopen: () => memory().storage })
    const failure = await firstFailure((runner) => storageContract(runner, { name: 'ours', open }))
    expectFailure(failure, 'keeps all animals when the storage is opened again')
  })

  test('reports a storage that loses one animal in ten when reopened', async () => {
    const open = async (clock: Clock) => {
      const { storage } = memory({ clock })
      const isKept = (pet: Pet | null | undefined) => pet?.id !== undefined && pet.id % 10n !== 0n
      const reopen = (): PetStorage => ({
        ...storage,
        async get(id) {
          const pet = await storage.get(id)
          return isKept(pet) ? pet : undefined
        },
        list: async (query) => (await storage.list(query)).filter(isKept),
      })
      return { port: storage, close, reopen }
    }
    const failure = await firstFailure((runner) => storageContract(runner, { name: 'ours', open }))
    expectFailure(failure, 'keeps all animals when the storage is opened again')
  })

  test('reports a key store that loses one key in ten when reopened', async () => {
    const open = async (clock: Clock) => {
      const { keyStore } = memory({ clock })
      const find = async (token: string) => {
        const key = await keyStore.find(token)
        const number = (await keyStore.list({ limit: 1_000 })).findIndex(({ id }) => id === key?.id) + 1
        return number % 10 === 0 ? undefined : key
      }
      return { port: keyStore, close, reopen: () => ({ ...keyStore, find }) }
    }
    const failure = await firstFailure((runner) => keyStoreContract(runner, { name: 'ours', open }))
    expectFailure(failure, 'keeps changed keys when the key store is opened again')
  })

  test('the report names a wrong return value of reopen', async () => {
    const open = async () => {
      const port = memory().storage
      return { port, close, reopen: () => ({ port, close }) as never }
    }
    const failure = await firstFailure((runner) => storageContract(runner, { name: 'ours', open }))
    expect(failure.report).toMatch(/^Error: reopen\(\) must return the port alone: wrong result\[1\]\n/)
  })

  test.each(['node:test', 'vitest'])('tests that do not apply to a storage are skipped: %s', async (name) => {
    const skipped = new Map<string, string>()
    const titles: string[] = []
    const tests: Promise<void>[] = []
    const runner: TestRunner = {
      describe: (_, body) => body(),
      test(title, body: (context?: object) => Promise<void>) {
        titles.push(title)
        expect(body).toHaveLength(0)
        const aborted = new Error('test is skipped')
        const skip = (reason: string) => {
          skipped.set(title, reason)
          if (name === 'vitest') throw aborted
        }
        tests.push(body({ skip }).catch((error) => expect(error).toBe(aborted)))
      },
    }
    const open = async (clock?: Clock) => ({ port: memory({ clock }).storage, close })
    storageContract(runner, { name, open, runs: 3 })
    await Promise.all(tests)
    const reasonOf = (title: string) => {
      const isReopened = title.endsWith('when the storage is opened again')
      return isReopened ? 'the store has no reopen' : undefined
    }
    expect(skipped.size).toBeGreaterThan(0)
    expect(titles.map((title) => [title, skipped.get(title)])).toEqual(titles.map((title) => [title, reasonOf(title)]))
  })

  test('tests of methods that a storage does not have are skipped by their names', async () => {
    const reasons = new Map<string, string>()
    const tests: Promise<void>[] = []
    const runner: TestRunner = {
      describe: (_, body) => body(),
      test(title, body: (context?: object) => Promise<void>) {
        tests.push(body({ skip: (reason: string) => reasons.set(title, reason) }))
      },
    }
    const open = async (clock?: Clock) => {
      const { list, create, get } = memory({ clock }).storage
      return { port: { list, create, get }, close }
    }
    storageContract(runner, { name: 'ours', open, runs: 3 })
    await Promise.all(tests)
    for (const name of ['update', 'remove', 'restore', 'count'])
      expect([...reasons.values()]).toContain(`the store has no ${name}`)
    expect(reasons.get('update changes only the members that it gets')).toBe('the store has no update')
    expect(reasons.get('list returns animals by ascending id')).toBeUndefined()
  })

  test('a report shows the error, the steps, and how to run the test again', async () => {
    const open = openFaulty(
      () => memory().storage,
      (sound) => ({
        list: (query) => sound.list({ ...query, after: query.after === undefined ? undefined : query.after - 1n }),
      }),
    )
    const failure = await firstFailure((runner) => storageContract(runner, { name: 'ours', open }))
    expect(failure.report).toBe(`Error: list({ limit: 10, after: 1n }): wrong ids
  expected: animals 2
  received: animals 1, 2
  the last calls:
    list({ limit: 1 }) -> []
    create({ name: "Rex", categoryId: 1n, status: "available" }, {}) -> { id: 1n, name: "Rex", categoryId: 1n, status: "available" }
    create({ name: "Rex", categoryId: 1n, status: "available" }, {}) -> { id: 2n, name: "Rex", categoryId: 1n, status: "available" }
    list({ limit: 10, after: -1n }) -> [{ id: 1n, name: "Rex", categoryId: 1n, status: "available" },{ id: 2n, name: "Rex", categoryId: 1n, status: "available" }]
    list({ limit: 10, after: 1n }) -> [{ id: 1n, name: "Rex", categoryId: 1n, status: "available" },{ id: 2n, name: "Rex", categoryId: 1n, status: "available" }]`)
  })

  test('a report tells how a reader missed an animal', async () => {
    const pets: Pet[] = []
    let last = 0n
    // Each second animal is visible before the animal with the smaller id.
    const create: PetStorage['create'] = async (pet) => {
      const created = { ...pet, id: ++last }
      for (let i = created.id % 2n === 0n ? 1 : 3; i > 0; i--) await timer()
      pets.push(created)
      pets.sort((a, b) => (a.id < b.id ? -1 : 1))
      return created
    }
    const storage = { ...memory().storage, create, list: async (query: PetQuery) => pageOf(pets, query) }
    const port = { ...storage, get: async (id: bigint) => pets.find((pet) => pet.id === id) }
    const tests = new Map<string, () => Promise<void>>()
    const runner: TestRunner = { describe: (_, add) => add(), test: (title, run) => void tests.set(title, run) }
    storageContract(runner, { name: 'ours', open: async () => ({ port, close }) })
    await expect(tests.get('a reader skips no animal while three are added')?.()).rejects.toThrow(
      /^list showed animal 2 before animal 1: ids must become visible in ascending order, or readers skip some\n.*later pages begin after animal 2, so animal 1 is never listed/s,
    )
  })

  test('a report names the rule of counting that broke', async () => {
    const open = openFaulty(
      (clock) => memory({ clock }).quota,
      ({ spend }) => ({
        spend: async (request) => ({ ...(await spend(request)), dayEndsAt: request.now + 86_400_000 }),
      }),
    )
    const tests = new Map<string, () => Promise<void>>()
    const runner: TestRunner = { describe: (_, add) => add(), test: (title, run) => void tests.set(title, run) }
    quotaContract(runner, { name: 'ours', open, seed: 1 })
    await expect(tests.get('random calls give the same results as countRequest')?.()).rejects.toThrow(
      /^spend returned a wrong dayEndsAt: windows are whole days of UTC, and do not begin with the first request\n/,
    )
  })

  test('the seed in a report reproduces the failure', async () => {
    const open = openFaulty(
      (clock) => memory({ clock }).quota,
      ({ spend }) => ({ spend: (request) => spend({ ...request, now: Math.floor(request.now / 1_000) * 1_000 }) }),
    )
    const { report: first } = await firstFailure((runner) => quotaContract(runner, { name: 'ours', open }))
    const seed = Number(/add seed: (-?\d+) to the options of the suite/.exec(first)?.[1])
    const { report: second } = await firstFailure((runner) => quotaContract(runner, { name: 'ours', open, seed }))
    expect(second).toBe(first)
  })

  test.each([undefined, memory().storage, { port: memory().storage }])(
    'the report names a wrong return value of open (case %#)',
    async (value) => {
      const open = async () => value as never
      const failure = await firstFailure((runner) => storageContract(runner, { name: 'ours', open }))
      expect(failure.report).toMatch(/^Error: open\(\) must return \{ port, close \}: wrong result\[\d\]\n/)
    },
  )

  test('a report shows an error that open or close throws', async () => {
    const refuse = async () => {
      throw new Error('connect ECONNREFUSED 127.0.0.1:3306')
    }
    const opening = await firstFailure((runner) => storageContract(runner, { name: 'ours', open: refuse }))
    const open = async () => ({ port: memory().storage, close: refuse })
    const closing = await firstFailure((runner) => storageContract(runner, { name: 'ours', open }))
    for (const { report } of [opening, closing]) expect(report).toBe('Error: connect ECONNREFUSED 127.0.0.1:3306')
  })
})
