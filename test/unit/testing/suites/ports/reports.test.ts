import { describe, expect, test } from 'vitest'
import { type Clock, memory, type Pet, type PetStorage } from '../../../../../src/index.ts'
import { keyStoreContract, quotaContract, storageContract, type TestRunner } from '../../../../../src/testing/index.ts'
import { close, expectReport, firstFailure, openFaulty } from './planted-faults.ts'

describe('the contract suites', () => {
  test('reports a storage that loses its animals when reopened', async () => {
    const open = async () => ({ port: memory().storage, close, reopen: () => memory().storage })
    const report = await firstFailure((runner) => storageContract(runner, { name: 'ours', open }))
    expectReport(report, 'get(1n) returned undefined: animal 1 was lost, although create had returned it')
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
    const report = await firstFailure((runner) => storageContract(runner, { name: 'ours', open }))
    expectReport(report, 'get(10n) returned undefined: animal 10 was lost, although create had returned it')
  })

  test('reports a key store that loses one key in ten when reopened', async () => {
    const open = async (clock: Clock) => {
      const { keyStore } = memory({ clock })
      const find = async (token: string) => {
        const key = await keyStore.find(token)
        const number = (await keyStore.list()).findIndex(({ id }) => id === key?.id) + 1
        return number % 10 === 0 ? undefined : key
      }
      return { port: keyStore, close, reopen: () => ({ ...keyStore, find }) }
    }
    const report = await firstFailure((runner) => keyStoreContract(runner, { name: 'ours', open }))
    expectReport(report, 'find(the token of key 10) returned undefined: find must return the key of this token')
  })

  test('the report names a wrong return value of reopen', async () => {
    const open = async () => {
      const port = memory().storage
      return { port, close, reopen: () => ({ port, close }) as never }
    }
    const report = await firstFailure((runner) => storageContract(runner, { name: 'ours', open }))
    expectReport(report, 'reopen() did not return a port')
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
      return isReopened ? 'open() did not return a function `reopen`' : undefined
    }
    expect(skipped.size).toBeGreaterThan(1)
    expect(titles.map((title) => [title, skipped.get(title)])).toEqual(titles.map((title) => [title, reasonOf(title)]))
  })

  test('a report shows the error, the steps, and how to run the test again', async () => {
    const open = openFaulty(
      () => memory().storage,
      (sound) => ({
        list: (query) => sound.list({ ...query, after: query.after === undefined ? undefined : query.after - 1n }),
      }),
    )
    const report = await firstFailure((runner) => storageContract(runner, { name: 'ours', open }))
    expect(report).toBe(`Error: list({ after: 1n }) returned animal 1: after is exclusive
  expected: only ids above 1n
  received: animals 1, 2
  steps:
    create({ name: "Rex", categoryId: 1n }) → animal 1
    create({ name: "Rex", categoryId: 1n }) → animal 2
    list({ limit: 10, after: 1n }) → animals 1, 2
  run it again: this test alone, "list returns only ids above \`after\`". It has no random values.`)
  })

  test('the seed in a report reproduces the failure', async () => {
    const open = openFaulty(
      (clock) => memory({ clock }).quota,
      ({ spend }) => ({ spend: (request) => spend({ ...request, now: Math.floor(request.now / 1_000) * 1_000 }) }),
    )
    const first = await firstFailure((runner) => quotaContract(runner, { name: 'ours', open }))
    const seed = Number(/add seed: (-?\d+) to the options of quotaContract/.exec(first)?.[1])
    const second = await firstFailure((runner) => quotaContract(runner, { name: 'ours', open, seed }))
    expect(second).toBe(first)
  })

  test.each([undefined, memory().storage, { port: memory().storage }])(
    'the report names a wrong return value of open (case %#)',
    async (value) => {
      const open = async () => value as never
      const report = await firstFailure((runner) => storageContract(runner, { name: 'ours', open }))
      expectReport(report, 'open() did not return { port, close }')
    },
  )

  test('a report shows an error that open or close throws', async () => {
    const refuse = async () => {
      throw new Error('connect ECONNREFUSED 127.0.0.1:3306')
    }
    const opening = await firstFailure((runner) => storageContract(runner, { name: 'ours', open: refuse }))
    const open = async () => ({ port: memory().storage, close: refuse })
    const closing = await firstFailure((runner) => storageContract(runner, { name: 'ours', open }))
    expectReport(opening, 'open() threw Error: connect ECONNREFUSED 127.0.0.1:3306: open() must return { port, close }')
    expectReport(
      closing,
      'close() threw Error: connect ECONNREFUSED 127.0.0.1:3306: close() must close what open() opened',
    )
  })
})
