import { contractClient } from '../../../../src/testing/suites/http/client.ts'
import { httpRules } from '../../../../src/testing/suites/http/suite.ts'
import { fetchThrough, type Send } from '../client.ts'
import { keyOf } from '../expect.ts'
import type { Rules } from '../suite.ts'

/** The tests of the public HTTP contract, without those that need a key with small limits: `limits.ts` tests limits. */
export const httpContract: Rules = Object.fromEntries(
  httpRules
    .filter(({ needsLimitedKey }) => !needsLimitedKey)
    .map(({ title, check }) => [title, ({ send }) => check(clientOf(send))]),
)

function clientOf(send: Send) {
  const token = keyOf('ample').authorization.replace('Bearer ', '')
  return contractClient({ baseUrl: 'http://localhost/v1', token, fetch: fetchThrough(send) })
}
