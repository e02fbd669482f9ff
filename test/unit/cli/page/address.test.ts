import fc from 'fast-check'
import { expect, test } from 'vitest'
import { LIMITS, queryOf, readAddress, STATUSES } from '../../../../adapters/cli/page/browser/address.ts'

const cursor = fc.string({ unit: 'binary', minLength: 1 })
const address = fc.record({
  status: fc.constantFrom(...STATUSES),
  limit: fc.constantFrom(...LIMITS),
  cursors: fc.array(cursor).map((cursors) => [undefined, ...cursors]),
  isTrailKnown: fc.constant(true),
})

test('readAddress returns the state that queryOf has written', () => {
  fc.assert(
    fc.property(address, (written) => {
      expect(readAddress(queryOf(written), { cursors: written.cursors })).toEqual(written)
    }),
  )
})

test('the first page of all animals needs no query', () => {
  expect(queryOf(readAddress('', null))).toBe('')
})

test('readAddress returns valid values for any query and any state', () => {
  fc.assert(
    fc.property(fc.string(), fc.anything(), (search, state) => {
      const { status, limit, cursors } = readAddress(search, state)
      expect([STATUSES.includes(status), LIMITS.includes(limit), cursors[0]]).toEqual([true, true, undefined])
    }),
  )
})

test('readAddress sets isTrailKnown to false if a link skips the earlier pages', () => {
  expect(readAddress('?status=sold&cursor=MToy', null)).toEqual({
    status: 'sold',
    limit: '10',
    cursors: [undefined, 'MToy'],
    isTrailKnown: false,
  })
})

test('unknown values in the query are ignored', () => {
  expect(readAddress('?status=<b>&limit=7', null)).toMatchObject({ status: '', limit: '10' })
})
