import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import * as mini from 'zod/mini'
import {
  createNewPetSchema,
  errorSchema,
  newPetSchema,
  petIdSchema,
  petQuerySchema,
  petSchema,
  petStatusSchema,
  petsSchema,
} from '../../../src/schemas/index.ts'

const rex = { name: 'Rex', categoryId: 7n }
const added = { ...rex, status: 'available' }
const noName = 'expected a string of at most 1000 characters'

describe('a host makes our schemas part of its own', () => {
  test.each([
    ['zod', z.object({ pet: newPetSchema })],
    ['zod/mini', mini.object({ pet: newPetSchema })],
  ])('as a member of an object of %s', (_, order) => {
    expect(order.parse({ pet: { ...rex, other: 1 } })).toEqual({ pet: added })
    const { error } = order.safeParse({ pet: { ...rex, name: '' } })
    expect(error?.issues).toMatchObject([{ path: ['pet', 'name'], message: expect.stringContaining(noName) }])
  })

  test.each([
    ['zod', newPetSchema.extend({ owner: z.string() })],
    ['zod/mini', mini.extend(newPetSchema, { owner: mini.string() })],
    ['the members', z.object({ ...newPetSchema.shape, owner: z.string() })],
  ])('extended with %s', (_, schema) => {
    expect(mini.safeParse(schema, { ...rex, owner: 'Ada' }).data).toEqual({ ...added, owner: 'Ada' })
    expect(mini.safeParse(schema, rex).success).toBe(false)
  })

  test.each([
    ['zod', newPetSchema.pick({ name: true })],
    ['zod/mini', mini.pick(newPetSchema, { name: true })],
  ])('reduced to some members with %s', (_, schema) => {
    expect(mini.safeParse(schema, rex).data).toEqual({ name: 'Rex' })
  })

  test('as a list, a partial animal, or the animal of a store with other options', () => {
    expect(z.array(newPetSchema).parse([rex])).toEqual([added])
    expect(petSchema.partial().parse({ id: 1n })).toEqual({ id: 1n })
    expect(createNewPetSchema({ defaultStatus: 'sold' }).parse(rex)).toEqual({ ...rex, status: 'sold' })
  })
})

test('the schemas of single values have the methods of zod', () => {
  const filter = z.object({ status: petStatusSchema.optional(), after: petIdSchema.nullable() })
  expect(filter.parse({ after: '7' })).toEqual({ after: 7n })
  expect(filter.parse({ status: 'sold', after: null })).toEqual({ status: 'sold', after: null })
  expect(petQuerySchema.transform(({ limit }) => limit).parse({ limit: '5' })).toBe(5)
  expect(petStatusSchema.safeParse('gone').error?.issues[0]?.message).toMatch(/^expected one of available, pending/)
})

test('the schemas keep their messages and further members', () => {
  const cat = { id: 1n, ...added, chip: 5 }
  expect(petsSchema.parse([cat])).toEqual([cat])
  expect(petsSchema.safeParse(7).error?.issues[0]?.message).toBe('expected an array of animals, got the number 7')
  expect(newPetSchema.safeParse(7).error?.issues[0]?.message).toMatch(/^expected an object with name and categoryId/)
  expect(errorSchema.parse({ code: 'a', message: 'b', status: 400, more: 1 })).toHaveProperty('more')
})
