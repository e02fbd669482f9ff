import { expect, test } from 'vitest'
import { using } from '../../../../adapters/cli/engines/driver.ts'
import { PetStoreError } from '../../../../src/index.ts'

test('an error names the database and the innermost cause', async () => {
  const cause = new Error('database or disk is full')
  const fail = () => Promise.reject(new PetStoreError('service_unavailable', undefined, { cause }))
  await expect(using('pets.db', fail)).rejects.toThrow('cannot use pets.db: database or disk is full')
})

test('the function using() rethrows an invalid_option error unchanged', async () => {
  const error = new PetStoreError('invalid_option', 'option label: expected a string')
  await expect(using('pets.db', () => Promise.reject(error))).rejects.toBe(error)
})
