import { isRemoved } from '../../../http/deprecation.ts'
import { operations } from '../../../operations.ts'
import type { ContractClient, ContractRequest, ContractResponse } from './client.ts'

/** The options with the tokens of keys that only some rules need. */
export type FurtherToken = 'limitedToken' | 'readOnlyToken'

/** One test of a server. */
export interface HttpRule {
  readonly title: string
  /** The option that the rule needs besides `token`, if any. */
  readonly needs: FurtherToken | undefined
  /** Rejects with an error that says what was expected. */
  readonly check: (client: ContractClient) => Promise<void>
}

export function rule(title: string, check: HttpRule['check'], needs?: FurtherToken): HttpRule {
  return { title, needs, check }
}

/** Returns a rule that uses up the limit of a key. */
export function limitedRule(title: string, check: HttpRule['check']): HttpRule {
  return rule(title, check, 'limitedToken')
}

export const REX = { name: 'Rex', categoryId: 1 }

/** The path of an animal that no server has: its id is the largest int64. */
export const UNKNOWN_PET = '/pets/9223372036854775807'

export function post(client: ContractClient, body: string | object = REX, headers: Record<string, string> = {}) {
  return client.send('POST /pets', { body, headers })
}

/**
 * Reads an animal and checks the response. Accepts 410 after the announced removal of getPet, but
 * not earlier.
 */
export async function checkGetPet(
  client: ContractClient,
  path: string,
  expect: (response: ContractResponse) => void,
  request?: ContractRequest,
) {
  const response = await client.send(`GET ${path}`, request)
  const mayBeRemoved = isRemoved(operations.getPet.deprecation, response.time, 'enforce')
  if (response.status !== 410 || !mayBeRemoved) expect(response)
}
