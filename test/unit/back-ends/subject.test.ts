import { expect, test } from 'vitest'
import { subjectName } from '../../../adapters/back-ends/shared/counters.ts'

test('stores long subjects that differ in one emoji under different names', async () => {
  const account = `account:${'x'.repeat(200)}`
  expect(await subjectName(`${account}🐕`)).not.toBe(await subjectName(`${account}🐖`))
})
