import { invalidOption } from '../../../schemas/options.ts'
import type { TestRunner } from '../ports/runner.ts'
import { contractClient, type HttpContractOptions } from './client.ts'
import { contractRules } from './contract-rules.ts'
import { ownRules } from './own-rules.ts'
import type { HttpRule } from './rule.ts'

/**
 * All tests, those of docs/interface.md first. They need no raw socket, and no special option of
 * the server.
 */
export const httpRules: readonly HttpRule[] = [...contractRules, ...ownRules]

const GROUPS = { contract: 'HTTP contract', decision: "HTTP contract: petstore-kit's own rules" } as const

/**
 * Adds tests of a running server, for every statement of the interface specification that HTTP
 * requests can check. The tests add some animals. After a 429 they wait as long as `Retry-After`
 * says, at most three minutes in all. A `pro` key needs no wait.
 * @param runner - `describe` and `test` of vitest, node:test, bun:test or Jest
 * @throws {PetStoreError} `invalid_option` if `baseUrl` is not a URL, or `token` is missing
 * @example
 * ```ts
 * import { describe, test } from 'node:test'
 * import { createTestPetStore, httpContract } from 'petstore-kit/testing'
 *
 * const { fetch, token } = await createTestPetStore({ plan: 'pro' })
 * httpContract({ describe, test }, { baseUrl: 'http://localhost/v1', token, fetch })
 * ```
 */
export function httpContract(runner: Pick<TestRunner, 'describe' | 'test'>, options: HttpContractOptions): void {
  const { baseUrl, token, limitedToken, basis = 'all' } = options
  if (!URL.canParse(baseUrl)) throw invalidOption('baseUrl', 'a URL such as "http://127.0.0.1:3000/v1"', baseUrl)
  if (!token) throw invalidOption('token', 'the token of a key', token)
  const client = contractClient(options)
  const rules = httpRules.filter((rule) => limitedToken !== undefined || !rule.needsLimitedKey)
  for (const group of basis === 'all' ? (['contract', 'decision'] as const) : [basis])
    runner.describe(GROUPS[group], () => {
      for (const rule of rules) if (rule.basis === group) runner.test(rule.title, () => rule.check(client))
    })
}
