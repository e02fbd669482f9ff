import type { IssuedKey, ManagedKeyStore } from '../../src/index.ts'
import type { PlaceFlags } from './back-end.ts'
import { issueDemoKeys, seed } from './demo.ts'
import type { PlanLimitsByName } from './flags.ts'
import type { OpenedBackEnd } from './opened-back-end.ts'

const DEMO_ANIMALS = 8

/** The flags that say what a new store gets. */
export interface FurnishFlags extends PlaceFlags {
  readonly seed?: number
  readonly planLimits: PlanLimitsByName
}

/** What a server has put into its back end when it started. */
export interface Furnished {
  readonly animals: number
  /** Empty where there were keys before, or where they are for the operator to issue. */
  readonly keys: readonly IssuedKey[]
}

/**
 * A new store in memory or in a file gets demo animals and keys; what is in a shared database is for its operator to say.
 * It is broken off where the server is to end meanwhile.
 */
export async function furnish(
  { storage, keyStore }: OpenedBackEnd,
  flags: FurnishFlags,
  ending: AbortSignal,
): Promise<Furnished> {
  const isShared = flags.databaseUrl !== undefined
  const animals = flags.seed ?? (isShared ? 0 : DEMO_ANIMALS)
  const isEmpty = animals > 0 && (await storage.list({ limit: 1 })).length === 0
  if (isEmpty) await seed(storage, 0, animals, ending)
  const keys = isShared || ending.aborted ? [] : await firstKeys(keyStore, flags.planLimits)
  // Keys that nobody is shown are not left alive.
  if (ending.aborted) await Promise.all(keys.map(({ key }) => keyStore.revoke(key.id)))
  return { animals: isEmpty ? animals : 0, keys }
}

async function firstKeys(keyStore: ManagedKeyStore, planLimits: PlanLimitsByName): Promise<readonly IssuedKey[]> {
  return (await keyStore.list()).length > 0 ? [] : issueDemoKeys(keyStore, planLimits)
}
