import { expect, test } from 'vitest'
import type { AddedData } from '../../../../adapters/cli/serve/demo-data.ts'
import { startJson, startText } from '../../../../adapters/cli/serve/start-text.ts'

const NOTHING: AddedData = { animals: undefined, keys: [] }
const ADDRESSES = { api: 'http://127.0.0.1:3000/v1', page: 'http://127.0.0.1:3000/#of-this-run' }

test('the start text has the address of the page', () => {
  const text = startText(ADDRESSES, 'pets.db', NOTHING, { data: 'pets.db' } as never)
  expect(text).toContain(`Open ${ADDRESSES.page} in a browser`)
})

test('startJson omits the number of animals if it is unknown', () => {
  expect(JSON.parse(startJson(ADDRESSES, 'pets.db', NOTHING))).toEqual({
    url: ADDRESSES.api,
    page: ADDRESSES.page,
    storedIn: 'pets.db',
    keys: {},
  })
  expect(JSON.parse(startJson(ADDRESSES, 'memory', { ...NOTHING, animals: 0 }))).toMatchObject({ animals: 0 })
})

test('the start text escapes control characters in the file name', () => {
  const file = 'a\u001b[31m\u009b\u202e.db'
  const text = startText(ADDRESSES, file, NOTHING, { data: file } as never)
  const json = startJson(ADDRESSES, file, NOTHING)
  expect(`${text.replaceAll('\n', '')}${json}`).not.toMatch(/[\p{Cc}\p{Cf}]/u)
  expect(JSON.parse(json)).toMatchObject({ storedIn: file })
})
