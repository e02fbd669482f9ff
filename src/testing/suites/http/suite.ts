import { invalidOption } from '../../../schemas/options.ts'
import type { TestRunner } from '../ports/suite.ts'
import { behaviourRules } from './behaviour-rules.ts'
import { contractClient, type HttpContractOptions } from './client.ts'
import { interfaceRules } from './interface-rules.ts'
import type { HttpRule } from './rule.ts'

/**
 * All tests: those of docs/interface.md first, then those of docs/behaviour.md. They need no raw
 * socket, and no special option of the server.
 */
export const httpRules: readonly HttpRule[] = [...interfaceRules, ...behaviourRules]

/**
 * Adds tests of a running server, for every statement of the interface and of docs/behaviour.md
 * that HTTP requests can check. The tests add some animals. After a 429 they wait as long as `Retry-After`
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
  const { baseUrl, token } = options
  if (!URL.canParse(baseUrl)) throw invalidOption('baseUrl', 'a URL such as "http://127.0.0.1:3000/v1"', baseUrl)
  if (!token) throw invalidOption('token', 'the token of a key', token)
  const client = contractClient(options)
  const rules = httpRules.filter(({ needs }) => needs === undefined || options[needs] !== undefined)
  runner.describe('HTTP contract', () => {
    for (const rule of rules) runner.test(rule.title, () => rule.check(client))
  })
}
