import { expect, test } from 'vitest'
import { startReport, welcome } from '../../../adapters/cli/announcement.ts'
import type { AddedData } from '../../../adapters/cli/demo-data.ts'

const NOTHING: AddedData = { animals: undefined, keys: [], hasKeys: true }
const ADDRESSES = { api: 'http://127.0.0.1:3000/v1', page: 'http://127.0.0.1:3000/#of-this-run' }

test('the welcome text has the address of the page', () => {
  const text = welcome(ADDRESSES, 'pets.db', NOTHING, { data: 'pets.db' } as never)
  expect(text).toContain(`Open ${ADDRESSES.page} in a browser`)
})

test('the start report omits the number of animals if it is unknown', () => {
  expect(JSON.parse(startReport(ADDRESSES, 'pets.db', NOTHING))).toEqual({
    url: ADDRESSES.api,
    page: ADDRESSES.page,
    place: 'pets.db',
    keys: {},
  })
  expect(JSON.parse(startReport(ADDRESSES, 'memory', { ...NOTHING, animals: 0 }))).toMatchObject({ animals: 0 })
})
