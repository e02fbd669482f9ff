import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type PetStatus, petStatuses } from '../../../src/index.ts'
import { startApi } from '../../support/api.ts'

/** Starts a store whose animals 1, 2, 3 and so on have these statuses. */
async function startWalks(...statuses: readonly PetStatus[]) {
  const { petStore, send } = await startApi({
    memory: { pets: statuses.map((status) => ({ name: 'Rex', categoryId: 1, status })) },
    plans: { free: { perMinute: 1_000_000, perDay: 1_000_000 } },
  })

  /** Follows the links from page to page, and returns the ids. `between` is called after each page. */
  async function walk(query: string, between: (page: number) => unknown = () => {}): Promise<number[]> {
    const seen: number[] = []
    let next: string | undefined = `/v1/pets?${query}`
    for (let page = 1; next !== undefined; page++) {
      const { headers, json } = await send(next)
      seen.push(...(json as { id: number }[]).map(({ id }) => id))
      next = /<(.*)>/.exec(headers.get('link') ?? '')?.[1]
      await between(page)
    }
    return seen
  }
  return { walk, pets: petStore.pets }
}

describe('a walk from page to page', () => {
  test('with a status misses an animal that gets the status behind the cursor', async () => {
    const { walk, pets } = await startWalks('pending', 'available', 'available')
    const seen = await walk(
      'status=available&limit=1',
      (page) => page === 1 && pets.update(1n, { status: 'available' }),
    )
    expect(seen).toEqual([2, 3])
  })

  test('for each status misses an animal that changes to a status already read', async () => {
    const { walk, pets } = await startWalks('pending', 'available')
    const available = await walk('status=available')
    await pets.update(1n, { status: 'available' })
    expect([...available, ...(await walk('status=pending'))]).toEqual([2])
  })

  test('for each status gets an animal twice that changes to a status not yet read', async () => {
    const { walk, pets } = await startWalks('available', 'available')
    const available = await walk('status=available')
    await pets.update(1n, { status: 'sold' })
    expect([...available, ...(await walk('status=sold'))]).toEqual([1, 2, 1])
  })

  test('without a status goes on after the animal of its cursor is removed', async () => {
    const { walk, pets } = await startWalks('available', 'sold', 'available', 'sold', 'available')
    const seen = await walk('limit=2', (page) => page === 1 && Promise.all([1, 2, 4].map((id) => pets.remove(id))))
    expect(seen).toEqual([1, 2, 3, 5])
  })

  test('gets an empty last page if all animals after its cursor are removed', async () => {
    const { walk, pets } = await startWalks('available', 'available')
    expect(await walk('limit=1', (page) => page === 1 && pets.remove(2))).toEqual([1])
  })

  test('gets each animal that matches all the time, once and in order', async () => {
    const count = 12
    const id = fc.integer({ min: 1, max: count })
    const step = fc.array(fc.record({ id, status: fc.option(fc.constantFrom(...petStatuses)) }), { maxLength: 4 })
    const property = fc.asyncProperty(
      fc.array(fc.constantFrom(...petStatuses), { minLength: count, maxLength: count }),
      fc.array(step, { maxLength: count }),
      fc.constantFrom(undefined, ...petStatuses),
      fc.integer({ min: 1, max: 4 }),
      async (statuses, steps, status, limit) => {
        const { walk, pets } = await startWalks(...statuses)
        const touched = new Set<number>()
        const seen = await walk(`limit=${limit}${status ? `&status=${status}` : ''}`, async (page) => {
          for (const { id, status: changed } of steps[page - 1] ?? []) {
            touched.add(id)
            if (changed === null) await pets.remove(id).catch(() => undefined)
            else await pets.update(id, { status: changed }).catch(() => undefined)
          }
        })
        const untouched = statuses.map((_, i) => i + 1).filter((id) => !touched.has(id))
        const expected = untouched.filter((id) => !status || statuses[id - 1] === status)
        expect(seen.filter((id) => !touched.has(id))).toEqual(expected)
        expect(seen).toEqual([...new Set(seen)].sort((one, other) => one - other))
      },
    )
    await fc.assert(property)
  })
})
