import { describe, expect, test } from 'vitest'
import { type InitialPet, memory } from '../../../src/index.ts'
import { INT64_MAX } from '../../../src/model.ts'

const REX = { name: 'Rex', categoryId: 1n, status: 'available' } as const

/** Returns all animals of a store that begins with these. */
const starting = (...pets: readonly InitialPet[]) => memory({ pets }).storage.list({ limit: 100 })

const errorOf = (pets: unknown) => {
  try {
    memory({ pets: pets as InitialPet[] })
  } catch (error) {
    return error
  }
}

describe('the option pets of memory', () => {
  test('animals get the ids 1, 2, 3 and the status available', () => {
    const [ada, bella] = [
      { name: 'Ada', categoryId: -(2n ** 63n) },
      { name: 'Bella', categoryId: 7, status: 'sold' },
    ] as const
    expect(starting(ada, bella)).toEqual([
      { id: 1n, ...ada, status: 'available' },
      { id: 2n, ...bella, categoryId: 7n },
    ])
  })

  test('ids are kept, in any order, and other animals get greater ones', async () => {
    const pets = [REX, { ...REX, id: 9 }, { ...REX, id: 2n }]
    expect(starting(...pets)).toEqual([2n, 9n, 10n].map((id) => ({ ...REX, id })))
    expect(await memory({ pets }).storage.create(REX)).toEqual({ ...REX, id: 11n })
  })

  test.each([
    ['pets', 7, 'expected an array of animals, got the number 7'],
    ['pets[1]', [REX, null], 'expected an animal with name and categoryId, perhaps with id and status, got null'],
    ['pets[0].id', [{ ...REX, id: 0 }], 'expected an integer from 1 to 2^63-1'],
    ['pets[0].categoryId', [{ ...REX, categoryId: 2 ** 53 }], 'above 2^53-1 as a bigint such as 7n'],
    ['pets[0].name', [{ ...REX, name: ' ' }], 'at least one of them not white space'],
    ['pets[0].status', [{ ...REX, status: 'lost' }], 'expected one of available, pending, sold, got the string "lost"'],
    ['pets[0].nme', [{ ...REX, nme: 'Rex' }], 'did you mean pets[0].name?'],
    [
      'pets[1].id',
      [
        { ...REX, id: 7 },
        { ...REX, id: 7n },
      ],
      'expected an id that no other animal of the list has, got the number 7',
    ],
  ])('rejects a wrong %s', (path, pets, problem) => {
    expect(errorOf(pets)).toMatchObject({ code: 'invalid_option', message: expect.stringContaining(problem) })
    expect(errorOf(pets)).toMatchObject({
      message: expect.stringMatching(`^option ${path.replaceAll(/[[\].]/g, '.')}: `),
    })
  })

  test.each([10_000, 200_000])('the error about %d wrong animals fits a screen', (length) => {
    const { message } = errorOf(Array.from({ length }, () => ({ ...REX, name: '' }))) as Error
    expect(message).toMatch(/^option pets\[0\]\.name: .*; option pets\[2\]\.name: /)
    expect(message).toContain(`; and ${(length - 3).toLocaleString('en')} more: correct these first`)
    expect(message.length).toBeLessThan(800)
  })
})

test('the error about an unknown member with a very long name is short', () => {
  const { message } = errorOf([{ ...REX, ['x'.repeat(1_000_000)]: 1 }]) as Error
  expect(message).toMatch(/^option pets\[0\]\.x{40}…: expected one of the options /)
  expect(message.length).toBeLessThan(200)
})

test('no animal gets an id above the greatest int64', () => {
  const { storage } = memory({ pets: [{ ...REX, id: INT64_MAX }] })
  expect(() => storage.create(REX)).toThrow('no id is left')
  expect(storage.count?.()).toBe(1)
})
