import { contractRows } from './contract-rows.ts'
import { decisionRows } from './decision-rows.ts'
import type { HttpContractRow } from './row.ts'

/** All rows, with those of the interface specification first. No row needs a raw socket or an option of the server. */
export const httpContractRows: readonly HttpContractRow[] = [...contractRows, ...decisionRows]
