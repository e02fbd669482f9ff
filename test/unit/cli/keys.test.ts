import { expect, test } from 'vitest'
import { tableLines } from '../../../adapters/cli/keys.ts'

test('the table of keys has room for more rows than a function takes arguments', () => {
  const keys = Array.from({ length: 200_000 }, (_, i) => ({ id: `key_${i}`, plan: 'free' }))
  expect([...tableLines(keys)]).toHaveLength(200_001)
})
