import { contractRows } from './contract-rows.ts'
import { decisionRows } from './decision-rows.ts'
import type { HttpContractRow } from './row.ts'

/** All rows. The rows of the interface come first. None needs a raw socket or an option of the server. */
export const httpContractRows: readonly HttpContractRow[] = [
  ...contractRows.map((row) => ({ ...row, basis: 'contract' as const })),
  ...decisionRows.map((row) => ({ ...row, basis: 'decision' as const })),
]
