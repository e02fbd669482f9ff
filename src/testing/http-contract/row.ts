import { SUNSET_AT } from '../../pets/deprecation.ts'
import type { ContractClient, ContractResponse } from './client.ts'

/** One expectation of a server. */
export interface HttpContractRow {
  /** The behaviour, in the present tense. */
  readonly title: string
  /** `contract` if the specification of the interface says so, `decision` where it is silent and this project has decided. */
  readonly basis: 'contract' | 'decision'
  /** True if the row uses up a key, which is then needed in the options. */
  readonly needsLimitedKey?: boolean
  /** Rejects with an error that says what was expected. */
  readonly check: (client: ContractClient) => Promise<void>
}

/** A row of a list whose rows have the same basis. */
export type RowOfBasis = Omit<HttpContractRow, 'basis'>

/** A good body. */
export const REX = { name: 'Rex', categoryId: 1 }

/** The path of an animal that no server has: it would be the last of all. */
export const UNKNOWN_PET = '/pets/9223372036854775807'

/** Sends a body to createPet. */
export function post(
  client: ContractClient,
  body: string | object = REX,
  headers: Readonly<Record<string, string>> = {},
): Promise<ContractResponse> {
  return client.send('/pets', { method: 'POST', body, headers })
}

/** Returns whether getPet has been removed. Before the date that the interface announces, a 410 is no removal. */
export function isRemoved({ status, time }: ContractResponse): boolean {
  return status === 410 && time >= SUNSET_AT
}

/** The largest limit that the rows about 429 use up. */
const MAX_LIMIT = 100

/** Uses up the limited key, and returns the 429. */
export async function useUp(client: ContractClient): Promise<ContractResponse> {
  for (let i = 0; i <= MAX_LIMIT; i++) {
    const response = await client.sendLimited('/pets?limit=1')
    if (response.status === 429) return response
  }
  throw new Error(`expected a 429 after at most ${MAX_LIMIT} requests with the limited key`)
}
