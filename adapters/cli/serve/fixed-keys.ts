import type { IssuedKey, ManagedKeyStore } from '../../../src/index.ts'
import { hashOf, isLoopback } from '../page/visitor.ts'
import type { PlanLimitsByName } from '../terminal/flags.ts'
import { demoLimits, type FixedKey, knownPlans, type ServeFlags } from '../terminal/flags.ts'
import { printable } from '../terminal/output.ts'

/** Returns a key store that also finds the keys in `known`, which are not stored. */
export function withFixedKeys(keyStore: ManagedKeyStore, known: readonly IssuedKey[]): ManagedKeyStore {
  if (known.length === 0) return keyStore
  const byHash = new Map(known.map(({ token, key }) => [hashOf(token), key]))
  return { ...keyStore, find: (token, context) => byHash.get(hashOf(token)) ?? keyStore.find(token, context) }
}

/**
 * Derives each id from the token, so that a key given with `--key` keeps its counter after a
 * restart.
 */
export function fixedKeys(keys: readonly FixedKey[], planLimits: PlanLimitsByName): IssuedKey[] {
  return keys.map(({ plan, token }) => {
    const id = `key_fixed_${hashOf(token).slice(0, 12)}`
    const limits = demoLimits(plan, planLimits)
    return { token, key: { id, plan, label: 'fixed by --key', createdAt: Date.now(), ...(limits && { limits }) } }
  })
}

/**
 * Throws for an unknown plan. Also throws if other machines can reach the server: a token in a
 * command line is no secret.
 */
export function checkFixedKeys({ key = [], host, insecureKeys, planLimits }: ServeFlags): void {
  const plans = knownPlans(planLimits)
  // The error does not contain the unknown plan, which is the token if somebody has written
  // `my-token=pro`.
  if (key.some(({ plan }) => !plans.includes(plan)))
    throw new Error(
      `--key: expected plan=token with one of the plans ${plans.map(printable).join(', ')}; --plan-limits adds plans`,
    )
  if (key.length > 0 && !insecureKeys && !isLoopback(host))
    throw new Error(
      `--key: expected a loopback --host such as 127.0.0.1, got another address; --insecure-keys allows --key with any --host`,
    )
}
