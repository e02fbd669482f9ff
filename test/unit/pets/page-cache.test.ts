import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Pet } from '../../../src/index.ts'
import { writePets } from '../../../src/pets/json.ts'
import { pageCache } from '../../../src/pets/pagination.ts'

const pet = (id: number, name = `pet ${id}`): Pet => ({ id: BigInt(id), name, categoryId: 1n, status: 'sold' })
const frozen = (id: number, name?: string): Pet => Object.freeze(pet(id, name))

test('the cache does not change a page', () => {
  const animals = Array.from({ length: 30 }, (_, i) => frozen(i + 1))
  const page = fc.subarray(animals)
  fc.assert(
    fc.property(fc.array(page, { minLength: 1, maxLength: 40 }), (pages) => {
      const writePage = pageCache()
      for (const pets of [...pages, ...pages]) expect(writePage(pets).text).toBe(writePets(pets))
    }),
  )
})

test('does not reuse the text of an animal that may have changed', () => {
  const writePage = pageCache()
  const changing = pet(1) as { name: string } & Pet
  writePage([changing])
  changing.name = 'another'
  expect(writePage([changing]).text).toBe(writePets([changing]))
})

test('does not reuse the text of an animal with getters', () => {
  const writePage = pageCache()
  let name = 'first'
  class Row implements Pet {
    readonly id = 1n
    readonly categoryId = 1n
    get name() {
      return name
    }
  }
  const row = Object.freeze(new Row())
  writePage([row])
  name = 'second'
  expect(writePage([row]).text).toContain('second')
})
