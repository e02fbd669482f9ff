import { expect, test } from 'vitest'
import { usePlace } from '../../../adapters/cli/back-end.ts'
import { PetStoreError } from '../../../src/index.ts'

test('an unavailable back end is named with its cause', async () => {
  const cause = new Error('database or disk is full')
  const fail = () => Promise.reject(new PetStoreError('service_unavailable', undefined, { cause }))
  await expect(usePlace({ place: 'pets.db' }, fail)).rejects.toThrow(/pets\.db.*database or disk is full/)
})

test('other errors pass unchanged', async () => {
  const error = new Error('port taken')
  await expect(usePlace({ place: 'pets.db' }, () => Promise.reject(error))).rejects.toBe(error)
})
