import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Pet } from '../../src/index.ts'
import { startApi } from '../support/api.ts'

type Mutable = { -readonly [Name in keyof Pet]: Pet[Name] }

/** What the contract says of a page, written the slow way. */
const asJson = (pets: readonly Pet[]) =>
  JSON.stringify(
    pets.map(({ id, name, categoryId, status }) => ({ id: Number(id), name, categoryId: Number(categoryId), status })),
  )

const made = (i: number): Mutable => ({ id: BigInt(i + 1), name: `Rex ${i}`, categoryId: 1n, status: 'available' })

test('a page says what its animals are now, whichever are frozen, were on another page, or have changed since', async () => {
  const change = fc.record({ at: fc.nat(5), name: fc.string({ minLength: 1 }).map((text) => `a${text}`) })
  const look = fc.record({ page: fc.subarray([0, 1, 2, 3, 4, 5]), change: fc.option(change, { nil: undefined }) })
  await fc.assert(
    fc.asyncProperty(fc.subarray([0, 1, 2, 3, 4, 5]), fc.array(look, { maxLength: 12 }), async (frozen, looks) => {
      const pets = Array.from(
        { length: 6 },
        (_, i) => (frozen.includes(i) ? Object.freeze(made(i)) : made(i)) as Mutable,
      )
      let page: Pet[] = []
      const storage = { list: () => page, create: () => made(0), get: () => undefined }
      const api = await startApi({ storage, plans: { free: { perMinute: 100, perDay: 100 } } })
      // One array for all pages: a storage may keep it and change it.
      for (const { page: chosen, change } of looks) {
        page.length = 0
        page.push(...chosen.map((i) => pets[i] as Pet))
        const { text } = await api.send('/v1/pets')
        expect(text).toBe(asJson(page))
        const changed = change && pets[change.at]
        if (changed && !Object.isFrozen(changed)) changed.name = change.name
      }
      page = []
    }),
  )
})

test('pages of more animals than are remembered are told all the same', async () => {
  const api = await startApi({ plans: { free: { perMinute: 10_000, perDay: 10_000 } } })
  for (let i = 0; i < 1_200; i++) await api.storage.create({ name: `Rex ${i}`, categoryId: 1n, status: 'available' })
  for (const round of [1, 2]) {
    let next = '/v1/pets?limit=1'
    for (let i = 0; i < 1_200; i++) {
      const { json, headers } = await api.send(next)
      expect(json, `round ${round}`).toEqual([{ id: i + 1, name: `Rex ${i}`, categoryId: 1, status: 'available' }])
      next = /<(.*)>/.exec(headers.get('link') ?? '')?.[1] ?? ''
    }
  }
})
