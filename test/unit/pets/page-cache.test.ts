import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Pet } from '../../../src/index.ts'
import { writePets } from '../../../src/pets/json.ts'
import { pageCache } from '../../../src/pets/list.ts'
import { encodeCursor } from '../../../src/schemas/query.ts'

const pet = (id: number, name = `pet ${id}`): Pet => ({ id: BigInt(id), name, categoryId: 1n, status: 'sold' })
const frozen = (id: number, name?: string): Pet => Object.freeze(pet(id, name))

/** Returns a function that writes pages with a cache of its own. */
function cachingWriter() {
  const pages = pageCache(({ path }) => path)
  return (found: readonly Pet[], { path = '/v1', query = '' } = {}) =>
    pages.write(pages.read(query), found, { path, route: '/pets', query })
}

test('writes the same page with and without the cache', () => {
  const animals = Array.from({ length: 30 }, (_, i) => frozen(i + 1))
  const asked = fc.record({
    found: fc.subarray(animals),
    path: fc.constantFrom('/v1', '/shop/v1'),
    query: fc.constantFrom('limit=3', 'limit=4', 'limit=4&x', ''),
  })
  fc.assert(
    fc.property(fc.array(asked, { minLength: 1, maxLength: 40 }), (all) => {
      const write = cachingWriter()
      for (const { found, ...place } of [...all, ...all]) {
        const page = write(found, place)
        expect(page).toMatchObject(cachingWriter()(found, place))
        expect(page.text).toBe(writePets(found.slice(0, Number(place.query.slice(6, 7) || 20))))
      }
    }),
  )
})

test('caches a page at the second request, and reuses it for the same animals', () => {
  const write = cachingWriter()
  const animals = [frozen(1), frozen(2)]
  const first = write(animals, { query: 'limit=2' })
  const second = write([...animals], { query: 'limit=2' })
  expect(second).not.toBe(first)
  expect(write(animals, { query: 'limit=2' })).toBe(second)
  for (const others of [animals.slice(0, 1), [...animals, frozen(3)], [frozen(1), frozen(2)]])
    expect(write(others, { query: 'limit=2' })).not.toBe(second)
  expect(write(animals, { query: 'limit=2', path: '/shop/v1' })).not.toBe(write(animals, { query: 'limit=2' }))
})

test('the cache keeps the pages of 128 queries, and starts again with the next query', () => {
  const write = cachingWriter()
  const animals = [frozen(1)]
  const queryOf = (i: number) => `cursor=${encodeCursor(BigInt(i))}`
  write(animals)
  const page = write(animals)
  for (let i = 1; i < 128; i++) write(animals, { query: queryOf(i) })
  expect(write(animals)).toBe(page)
  write(animals, { query: queryOf(128) })
  expect(write(animals)).not.toBe(page)
})

test.each([
  [200, true],
  [201, false],
])('for a query of %i characters, caching its page is %s', (length, isCached) => {
  const write = cachingWriter()
  const query = 'x='.padEnd(length, 'x')
  write([frozen(1)], { query })
  const animals = [frozen(1)]
  const page = write(animals, { query })
  expect(write(animals, { query }) === page).toBe(isCached)
})

test('does not reuse the page of a list that has changed', () => {
  const write = cachingWriter()
  const found = [frozen(1)]
  write(found)
  write(found)
  found[0] = frozen(2)
  expect(write(found).text).toBe(writePets(found))
})

test('does not reuse the text of an animal that may have changed', () => {
  const write = cachingWriter()
  const changing = pet(1) as { name: string } & Pet
  const animals = [frozen(2), changing]
  write(animals)
  write(animals)
  changing.name = 'another'
  expect(write(animals).text).toBe(writePets(animals))
})

test('does not reuse the text of an animal with getters', () => {
  const write = cachingWriter()
  let name = 'first'
  class Row implements Pet {
    readonly id = 1n
    readonly categoryId = 1n
    get name() {
      return name
    }
  }
  const row = Object.freeze(new Row())
  write([row])
  write([row])
  name = 'second'
  expect(write([row]).text).toContain('second')
})
