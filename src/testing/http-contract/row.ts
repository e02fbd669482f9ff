import { SUNSET_AT } from '../../pets/get.ts'
import type { ContractClient, ContractResponse } from './client.ts'

/** One test of a server. */
export interface HttpContractRow {
  readonly title: string
  /** `contract` if docs/interface.md demands it, `decision` if the document is silent and this project has decided. */
  readonly basis: 'contract' | 'decision'
  /** True if the row uses up the limit of a key. The option `limitedToken` is then required. */
  readonly needsLimitedKey?: boolean
  /** Rejects with an error that says what was expected. */
  readonly check: (client: ContractClient) => Promise<void>
}

export function rowsOf(basis: HttpContractRow['basis']) {
  return (title: string, check: HttpContractRow['check']): HttpContractRow => ({ title, basis, check })
}

export const REX = { name: 'Rex', categoryId: 1 }

/** The path of an animal that no server has: its id is the largest int64. */
export const UNKNOWN_PET = '/pets/9223372036854775807'

export function post(
  client: ContractClient,
  body: string | object = REX,
  headers: Readonly<Record<string, string>> = {},
): Promise<ContractResponse> {
  return client.send('/pets', { method: 'POST', body, headers })
}

/** Returns whether getPet has been removed, as announced. An earlier 410 is an error. */
export function isRemoved({ status, time }: ContractResponse): boolean {
  return status === 410 && time >= SUNSET_AT
}

const MAX_REQUESTS = 100

export function limitedRow(
  basis: HttpContractRow['basis'],
  title: string,
  check: (refused: ContractResponse) => void,
): HttpContractRow {
  return { title, basis, needsLimitedKey: true, check: async (client) => check(await useUp(client)) }
}

/** Sends requests until the limit of `limitedToken` is used up. Returns the 429 response. */
async function useUp(client: ContractClient): Promise<ContractResponse> {
  for (let i = 0; i <= MAX_REQUESTS; i++) {
    const response = await client.sendLimited('/pets?limit=1')
    if (response.status === 429) return response
  }
  throw new Error(`expected a 429 after at most ${MAX_REQUESTS} requests with the limited key`)
}
