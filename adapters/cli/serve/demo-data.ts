import type { IssuedKey, ManagedKeyStore } from '../../../src/index.ts'
import { isPersistent } from '../engines/back-end.ts'
import type { OpenedBackEnd } from '../engines/driver.ts'
import { leaveTimeForOthers } from '../pets/breaks.ts'
import { addDemoPets } from '../pets/demo-pets.ts'
import { demoLimits, knownPlans, type PlanLimitsByName, type ServeFlags } from '../terminal/flags.ts'

export async function issueDemoKeys(keyStore: ManagedKeyStore, planLimits: PlanLimitsByName): Promise<IssuedKey[]> {
  const keyOf = (plan: string) => ({ plan, label: `demo key, ${plan}`, limits: demoLimits(plan, planLimits) })
  return Promise.all(knownPlans(planLimits).map((plan) => keyStore.issue(keyOf(plan))))
}

export const DEMO_ANIMALS = 8

export interface AddedData {
  /**
   * The number of animals in the store; `undefined` if the store may have contained animals before.
   */
  readonly animals: number | undefined
  readonly keys: readonly IssuedKey[]
}

/**
 * Adds demo animals and keys if the store has none. In a file or database, this happens only with
 * `--demo`. With `--seed` but not `--demo`, a file or database gets animals but no keys.
 *
 * @param closing - if this signal aborts, the new keys are revoked, because nobody will see their
 * tokens
 */
export async function addDemoData(
  { storage, keyStore }: Pick<OpenedBackEnd, 'storage' | 'keyStore'>,
  flags: Pick<ServeFlags, 'data' | 'databaseUrl' | 'demo' | 'seed' | 'pets' | 'planLimits' | 'key'>,
  closing: AbortSignal,
): Promise<AddedData> {
  const isWanted = flags.demo || !isPersistent(flags)
  const animals = flags.seed ?? (isWanted && flags.pets === undefined ? DEMO_ANIMALS : 0)
  const isEmpty = animals > 0 && (await storage.list({ limit: 1 })).length === 0
  const pause = isPersistent(flags) ? leaveTimeForOthers : undefined
  if (isEmpty) await addDemoPets(storage, 0, animals, { signal: closing, pause })
  // Fixed keys are in no list.
  const isWithoutKeys = isWanted && flags.key === undefined && (await keyStore.list({ limit: 1 })).length === 0
  const keys = isWithoutKeys && !closing.aborted ? await issueDemoKeys(keyStore, flags.planLimits) : []
  if (closing.aborted) await Promise.all(keys.map(({ key }) => keyStore.revoke(key.id)))
  const inStore = isPersistent(flags) ? undefined : await storage.count?.()
  return { animals: isEmpty ? animals : inStore, keys }
}
