import { contractClient } from '../../../../src/testing/suites/http/client.ts'
import { httpRules } from '../../../../src/testing/suites/http/suite.ts'
import { fetchThrough, type Send } from '../client.ts'
import { keyOf } from '../expect.ts'
import type { Rules } from '../suite.ts'

/** The tests of the public HTTP contract, without those that need a key with small limits: `limits.ts` tests limits. */
export const httpContract: Rules = Object.fromEntries(
  httpRules
    .filter(({ needs }) => needs !== 'limitedToken')
    .map(({ title, check }) => [title, ({ send }) => check(clientOf(send))]),
)

function clientOf(send: Send) {
  const tokenOf = (plan: 'ample' | 'reader') => keyOf(plan).authorization.replace('Bearer ', '')
  const tokens = { token: tokenOf('ample'), readOnlyToken: tokenOf('reader') }
  return contractClient({ baseUrl: 'http://localhost/v1', ...tokens, fetch: fetchThrough(send) })
}
