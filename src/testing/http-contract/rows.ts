import { contractRows } from './contract-rows.ts'
import { decisionRows } from './decision-rows.ts'
import type { HttpContractRow } from './row.ts'

/** Every row, those of the interface first. None needs a raw socket or an option of the server. */
export const httpContractRows: readonly HttpContractRow[] = [
  ...contractRows.map((row) => ({ ...row, basis: 'contract' as const })),
  ...decisionRows.map((row) => ({ ...row, basis: 'decision' as const })),
]
