import { contractClient } from '../../../../src/testing/suites/http/client.ts'
import { httpContractRows } from '../../../../src/testing/suites/http/suite.ts'
import { fetchThrough, type Send } from '../client.ts'
import { keyOf } from '../expect.ts'
import type { Rows } from '../suite.ts'

/** The tests of the public HTTP contract, without those that need a key with small limits: `limits.ts` tests limits. */
export const httpContract: Rows = Object.fromEntries(
  httpContractRows
    .filter(({ needsLimitedKey }) => !needsLimitedKey)
    .map(({ title, check }) => [title, ({ send }) => check(clientOf(send))]),
)

function clientOf(send: Send) {
  const token = keyOf('ample').authorization.replace('Bearer ', '')
  return contractClient({ baseUrl: 'http://localhost/v1', token, fetch: fetchThrough(send) })
}
