import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Pet } from '../../../src/index.ts'
import { writePets } from '../../../src/pets/json.ts'
import { cachedPages, type Pages } from '../../../src/pets/pagination.ts'

const pet = (id: number, name = `pet ${id}`): Pet => ({ id: BigInt(id), name, categoryId: 1n, status: 'sold' })
const frozen = (id: number, name?: string): Pet => Object.freeze(pet(id, name))

/** Returns a function that writes pages of a cache. */
function pageWriter() {
  const pages = cachedPages(({ path }) => path)
  return (found: readonly Pet[], { path = '/v1', query = '' } = {}) => {
    const { text, headers } = pages.write(pages.read(query), found, { path, route: '/pets', query })
    return { text, headers }
  }
}

test('the cache does not change a page', () => {
  const animals = Array.from({ length: 30 }, (_, i) => frozen(i + 1))
  const asked = fc.record({
    found: fc.subarray(animals),
    path: fc.constantFrom('/v1', '/shop/v1'),
    query: fc.constantFrom('limit=3', 'limit=4', ''),
  })
  fc.assert(
    fc.property(fc.array(asked, { minLength: 1, maxLength: 40 }), (all) => {
      const write = pageWriter()
      for (const { found, ...place } of [...all, ...all]) {
        const page = write(found, place)
        expect(page).toEqual(pageWriter()(found, place))
        expect(page.text).toBe(writePets(found.slice(0, Number(place.query.slice(6) || 20))))
      }
    }),
  )
})

test('returns the same page for the same animals, and another one for others', () => {
  const pages = cachedPages(({ path }) => path)
  const animals = [frozen(1), frozen(2)]
  const write = (found: readonly Pet[], path = '/v1') =>
    pages.write(pages.read('limit=2'), found, { path, route: '/pets', query: 'limit=2' })
  const page = write(animals)
  expect(write([...animals])).toBe(page)
  for (const others of [animals.slice(0, 1), [...animals, frozen(3)], [frozen(1), frozen(2)]]) {
    const other = write(others)
    expect(other).not.toBe(page)
    expect(write(others)).toBe(other)
  }
  expect(write(animals, '/shop/v1')).not.toBe(write(animals))
})

test('remembers queries of up to 100 characters', () => {
  const pages = cachedPages(({ path }) => path)
  const [short, long] = ['limit=2'.padEnd(100, '&'), 'limit=2'.padEnd(101, '&')]
  expect(pages.read(short)).toBe(pages.read(short))
  expect(pages.read(long)).not.toBe(pages.read(long))
  expect(pages.read(long)).toEqual(pages.read(short))
})

test('a page that changes often does not empty the cache, and many pages do', () => {
  const write = (pages: Pages, query: string, found: readonly Pet[]) =>
    pages.write(pages.read(query), found, { path: '/v1', route: '/pets', query })
  const pages = cachedPages(({ path }) => path)
  const still = [frozen(1)]
  const page = write(pages, 'limit=1', still)
  for (let i = 0; i < 3_000; i++) write(pages, 'limit=2', [frozen(i)])
  expect(write(pages, 'limit=1', still)).toBe(page)
  for (let i = 0; i < 3_000; i++) write(pages, `limit=2&x=${i}`, still)
  expect(write(pages, 'limit=1', still)).not.toBe(page)
})

test('does not reuse the page of a list that has changed', () => {
  const write = pageWriter()
  const found = [frozen(1)]
  write(found)
  found[0] = frozen(2)
  expect(write(found).text).toBe(writePets(found))
})

test('does not reuse the text of an animal that may have changed', () => {
  const write = pageWriter()
  const changing = pet(1) as { name: string } & Pet
  const animals = [frozen(2), changing]
  write(animals)
  changing.name = 'another'
  expect(write(animals).text).toBe(writePets(animals))
})

test('does not reuse the text of an animal with getters', () => {
  const write = pageWriter()
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
  name = 'second'
  expect(write([row]).text).toContain('second')
})
