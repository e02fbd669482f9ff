import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createPetStore, memory, type PetInput, type PetStorage, PetStoreError } from '../../../src/index.ts'
import { manualClock } from '../../../src/testing/index.ts'
import { startApi } from '../../support/api.ts'

const REX = { name: 'Rex', categoryId: 1n, status: 'available' } as const
const AVAILABLE = { if: { status: 'available' } } as const

/** Returns the animals of a store in memory that has Rex with the id 1. */
function petsWithRex() {
  return createPetStore(memory({ pets: [REX] })).pets
}

/** Returns the animals of a store whose storage has only the required methods. */
function petsOfSmallStorage(changes: Partial<PetStorage> = {}) {
  const { list, create, get } = memory().storage
  return createPetStore({ storage: { list, create, get, ...changes } }).pets
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = []
  for await (const item of items) collected.push(item)
  return collected
}

const animals = (length: number) => Array.from({ length }, (_, i): PetInput => ({ name: `Pet ${i}`, categoryId: i }))

describe('reading', () => {
  test('get returns an animal by a bigint or a number', async () => {
    const pets = petsWithRex()
    expect(await pets.get(1n)).toEqual({ id: 1n, ...REX })
    expect(await pets.get(1)).toEqual({ id: 1n, ...REX })
    expect(await pets.get(2)).toBeUndefined()
  })

  test('get returns undefined for null of a storage', async () => {
    expect(await petsOfSmallStorage({ get: () => null }).get(1)).toBeUndefined()
  })

  test('list returns a page of 20 animals, or as the query says', async () => {
    const pets = petsWithRex()
    await pets.addAll(animals(30))
    expect(await pets.list()).toHaveLength(20)
    await pets.update(25, { status: 'sold' })
    await pets.update(30, { status: 'sold' })
    const query = { status: 'sold', after: 1, limit: 1 } as const
    expect(await pets.list(query)).toMatchObject([{ id: 25n }])
    expect(await pets.list({ ...query, after: 25n })).toMatchObject([{ id: 30n }])
  })

  test.each([0, 99, 100, 101, 200, 250])('all iterates over %d animals in order', async (length) => {
    const { pets } = createPetStore()
    await pets.addAll(animals(length))
    const ids = (await collect(pets.all())).map(({ id }) => id)
    expect(ids).toEqual(Array.from({ length }, (_, i) => BigInt(i + 1)))
  })

  test('all selects by status, after an id', async () => {
    const pets = petsWithRex()
    await pets.addAll([REX, { ...REX, status: 'sold' }, REX])
    expect(await collect(pets.all({ status: 'available', after: 1 }))).toMatchObject([{ id: 2n }, { id: 4n }])
  })

  test.each([
    ['with count of the storage', petsWithRex],
    ['by reading all pages', petsOfSmallStorage],
  ])('count counts %s', async (_, create) => {
    const pets = create()
    const before = await pets.count()
    await pets.addAll([...animals(120), { ...REX, status: 'sold' }])
    expect(await pets.count()).toBe(before + 121)
    expect(await pets.count({ status: 'sold' })).toBe(1)
  })
})

describe('adding', () => {
  test('add applies the default status of the store', async () => {
    const { pets } = createPetStore({ defaultStatus: 'pending' })
    expect(await pets.add({ name: 'Rex', categoryId: 7 })).toEqual({
      id: 1n,
      name: 'Rex',
      categoryId: 7n,
      status: 'pending',
    })
  })

  test.each<[unknown, string]>([
    [{ ...REX, name: 'abcd' }, 'option pet.name: expected a string of at most 3 characters'],
    [{ ...REX, status: 'lost' }, 'option pet.status: expected one of available, pending, sold'],
    [{ ...REX, categoryId: 2 ** 53 }, 'option pet.categoryId: expected an integer'],
    [{ ...REX, nme: 'Rex' }, 'did you mean pet.name?'],
    [{ ...REX, id: 7n }, 'option pet.id: expected one of'],
    [undefined, 'option pet: expected an animal with name and categoryId, got nothing'],
    [[REX], 'option pet: expected an animal with name and categoryId, got an array'],
  ])('add rejects the wrong animal %#', async (pet, message) => {
    const { pets } = createPetStore({ maxNameLength: 3 })
    const error = { code: 'invalid_option', message: expect.stringContaining(message) }
    await expect(pets.add(pet as PetInput)).rejects.toMatchObject(error)
    expect(await pets.count()).toBe(0)
  })

  test('once adds one animal, and returns it as it was added', async () => {
    const pets = petsWithRex()
    const ada = await pets.add({ ...REX, name: 'Ada' }, { once: 'order 1' })
    await pets.update(ada.id, { status: 'sold' })
    expect(await pets.add({ ...REX, name: 'Ada' }, { once: 'order 1' })).toEqual(ada)
    await expect(pets.add(REX, { once: 'order 1' })).rejects.toMatchObject({ code: 'idempotency_key_reused' })
    expect(await pets.count()).toBe(2)
  })

  test('another default status does not break a repeat', async () => {
    const backEnd = memory()
    const options = { once: '1' }
    const first = await createPetStore(backEnd).pets.add({ name: 'Rex', categoryId: 1 }, options)
    const { pets } = createPetStore({ ...backEnd, defaultStatus: 'sold' })
    expect(await pets.add({ name: 'Rex', categoryId: 1 }, options)).toEqual(first)
  })

  test('keys of clients and of the host are independent', async () => {
    const { petStore, add } = await startApi()
    const body = '{"name":"Rex","categoryId":1}'
    await petStore.pets.add({ name: 'Rex', categoryId: 1 }, { once: 'a' })
    expect(await add(body, { headers: { 'Idempotency-Key': 'a' } })).toMatchObject({ json: { id: 2 } })
  })

  test('addAll adds a stream, and a repeat adds only what is missing', async () => {
    const { pets } = createPetStore()
    const stream = async function* () {
      yield* animals(250)
    }
    expect(await pets.addAll(animals(249), { once: 'import' })).toEqual({ added: 249, repeated: 0 })
    expect(await pets.addAll(stream(), { once: 'import' })).toEqual({ added: 1, repeated: 249 })
    expect(await pets.addAll(animals(1))).toEqual({ added: 1, repeated: 0 })
    expect(await pets.count()).toBe(251)
  })

  test('addAll takes no more from its source than it adds at once', async () => {
    const { list, get } = memory().storage
    const waiting: (() => void)[] = []
    const create = vi.fn(
      (pet) => new Promise<never>((resolve) => waiting.push(() => resolve({ id: 1n, ...pet } as never))),
    )
    const { pets } = createPetStore({ storage: { list, create, get } })
    const result = pets.addAll(animals(101))
    await vi.waitFor(() => expect(create).toHaveBeenCalledTimes(100))
    for (const resolve of waiting.splice(0)) resolve()
    await vi.waitFor(() => expect(create).toHaveBeenCalledTimes(101))
    waiting[0]?.()
    expect(await result).toEqual({ added: 101, repeated: 0 })
  })

  test('addAll stops at a wrong animal, and names it', async () => {
    const { pets } = createPetStore()
    const close = vi.fn()
    const stream = async function* () {
      try {
        yield* [REX, { ...REX, name: '' }]
        yield* animals(1_000)
      } finally {
        close()
      }
    }
    await expect(pets.addAll(stream())).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringMatching(/^option pets\[1\]\.name: /),
    })
    expect(close).toHaveBeenCalledOnce()
    expect(await pets.count()).toBeLessThan(100)
  })

  test.each([undefined, 7, {}])('addAll rejects %j instead of animals', async (given) => {
    const error = {
      code: 'invalid_option',
      message: expect.stringMatching(/^option pets: expected an array or a stream/),
    }
    await expect(createPetStore().pets.addAll(given as never)).rejects.toMatchObject(error)
  })

  test('addAll rejects with the error of its source after all calls have ended', async () => {
    const { pets } = createPetStore()
    const stream = async function* () {
      yield REX
      throw new Error('the file ended early')
    }
    await expect(pets.addAll(stream())).rejects.toThrow('the file ended early')
    expect(await pets.count()).toBe(1)
  })

  test('restore keeps the ids, and returns those that exist', async () => {
    const pets = petsWithRex()
    expect(
      await pets.restore([
        { ...REX, id: 7, status: 'sold' },
        { id: 1n, name: 'Ada', categoryId: 2 },
      ]),
    ).toEqual([1n])
    expect(await collect(pets.all())).toEqual([
      { id: 1n, ...REX },
      { id: 7n, ...REX, status: 'sold' },
    ])
    expect((await pets.add(REX)).id).toBe(8n)
  })

  test.each([
    [[{ ...REX, id: 0 }], 'pets[0].id: expected an integer from 1 to 2^63-1'],
    [
      [
        { ...REX, id: 2 },
        { ...REX, id: 2n },
      ],
      'pets[1].id: expected an id that no other animal of the list has',
    ],
    [[REX], 'pets[0].id'],
  ])('restore rejects %#', async (given, message) => {
    const error = { code: 'invalid_option', message: expect.stringContaining(message) }
    await expect(petsWithRex().restore(given as never)).rejects.toMatchObject(error)
  })
})

describe('update and remove', () => {
  test('update changes only the given members', async () => {
    const pets = petsWithRex()
    expect(await pets.update(1, { status: 'sold' })).toEqual({ id: 1n, ...REX, status: 'sold' })
    expect(await pets.update(1n, { name: 'Max', categoryId: 2, status: undefined })).toEqual({
      id: 1n,
      name: 'Max',
      categoryId: 2n,
      status: 'sold',
    })
  })

  test('of twenty tills, one sells Rex, and the others learn that he is sold', async () => {
    const pets = petsWithRex()
    const sales = Array.from({ length: 20 }, () => pets.update(1, { status: 'sold' }, AVAILABLE))
    const results = await Promise.allSettled(sales)
    const errors = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
    expect(errors).toHaveLength(19)
    for (const error of errors)
      expect(error).toMatchObject({ code: 'condition_failed', status: undefined, pet: { id: 1n, status: 'sold' } })
    expect(errors[0].message).toBe(
      'The animal 1 does not have the values of "if". It is sold, of the category 1, and its name is the string "Rex".',
    )
  })

  test('remove returns the animal as it was', async () => {
    const pets = petsWithRex()
    await expect(pets.remove(1, { if: { status: 'sold' } })).rejects.toMatchObject({ code: 'condition_failed' })
    expect(await pets.remove(1, { if: { name: 'Rex', categoryId: 1 } })).toEqual({ id: 1n, ...REX })
    expect(await pets.get(1)).toBeUndefined()
  })

  test('an unknown id rejects with pet_not_found', async () => {
    const pets = petsWithRex()
    const error = { code: 'pet_not_found', message: 'There is no animal with the id 7.' }
    await expect(pets.update(7, { status: 'sold' })).rejects.toMatchObject(error)
    await expect(pets.remove(7)).rejects.toMatchObject(error)
  })

  test.each<[string, (pets: ReturnType<typeof petsWithRex>) => Promise<unknown>]>([
    ['option changes: expected a value for at least one of name, categoryId, status', (pets) => pets.update(1, {})],
    ['option changes.status: expected one of', (pets) => pets.update(1, { status: 'lost' as 'sold' })],
    ['option changes.name: expected a string', (pets) => pets.update(1, { name: '' })],
    ['option changes.id: expected one of', (pets) => pets.update(1, { id: 2n } as object)],
    ['option if: expected a value for at least', (pets) => pets.update(1, REX, { if: { status: undefined } })],
    ['option if.status: expected one of', (pets) => pets.remove(1, { if: { status: 'lost' as 'sold' } })],
    ['option fi: expected one of the options if', (pets) => pets.remove(1, { fi: { status: 'sold' } } as object)],
    ['option id: expected an integer', (pets) => pets.remove('1' as never)],
  ])('rejects with "%s"', async (message, call) => {
    const pets = petsWithRex()
    const error = { code: 'invalid_option', message: expect.stringContaining(message) }
    await expect(call(pets)).rejects.toMatchObject(error)
    expect(await pets.get(1)).toEqual({ id: 1n, ...REX })
  })

  test('a condition may have a name that is longer than a new one may be', async () => {
    const { pets } = createPetStore({ ...memory({ pets: [REX] }), maxNameLength: 2 })
    expect(await pets.update(1, { name: 'Al' }, { if: { name: 'Rex' } })).toMatchObject({ name: 'Al' })
  })
})

describe('the storage', () => {
  test.each(['update', 'remove', 'restore'] as const)('a storage without %s gives a clear error', async (method) => {
    const pets = petsOfSmallStorage()
    const calls = {
      update: () => pets.update(1, { status: 'sold' }),
      remove: () => pets.remove(1),
      restore: () => pets.restore([]),
    }
    const message = `option storage: expected a storage with the method ${method}; add it to your storage`
    await expect(calls[method]()).rejects.toMatchObject({ code: 'pets_not_supported', message })
  })

  test('a storage that does not respond rejects after the time limit', async () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const storage = { ...memory().storage, update: () => new Promise<never>(() => {}) }
    const { pets } = createPetStore({ storage, timeout: 250 })
    const result = expect(pets.update(1, REX)).rejects.toMatchObject({ code: 'service_unavailable' })
    await vi.advanceTimersByTimeAsync(250)
    await result
  })

  test('a wrong result of update is a clear error', async () => {
    const { pets } = createPetStore({ storage: { ...memory().storage, update: () => ({ id: 1n, ...REX }) as never } })
    await expect(pets.update(1, REX)).rejects.toThrow('storage: expected { applied, pet }, got an object')
  })

  test('an error of the storage is the cause of the rejection', async () => {
    const cause = new PetStoreError('invalid_body')
    const create = () => {
      throw cause
    }
    const { pets } = createPetStore({ storage: { ...memory().storage, create } })
    await expect(pets.add(REX)).rejects.toMatchObject({ cause, message: 'a port has thrown a PetStoreError' })
  })
})

test('the calls are not counted and not reported', async () => {
  const onResponse = vi.fn()
  const clock = manualClock()
  const store = createPetStore({ clock, onResponse })
  const { key } = await store.keyStore.issue({ plan: 'free' })
  await store.pets.add(REX)
  await store.pets.update(1, { status: 'sold' })
  expect(onResponse).not.toHaveBeenCalled()
  expect(await store.keys.usage(key)).toMatchObject({ minute: { used: 0 } })
})
