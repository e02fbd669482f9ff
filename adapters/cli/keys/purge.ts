import { codeOf } from '../../../src/errors.ts'
import type { ApiKey, Keys } from '../../../src/index.ts'
import type { DatabaseFlags } from '../terminal/flags.ts'
import { apiKeys, print } from '../terminal/output.ts'
import { inBatches } from './batches.ts'
import { withExistingKeys } from './open.ts'

interface PurgeFlags extends DatabaseFlags {
  readonly endedBefore: number
}

/** Runs `petstore keys purge`, which may be interrupted and run again. */
export async function runPurge({ endedBefore, ...database }: PurgeFlags): Promise<void> {
  let removed = 0
  await withExistingKeys(database, async (keys) => {
    for (const state of ['expired', 'revoked'] as const)
      await inBatches(endedKeys(keys, state, endedBefore), async ({ id }) => {
        if (await remove(keys, id)) removed++
      })
  })
  await print(`Removed ${apiKeys(removed)} that had ended before ${new Date(endedBefore).toISOString()}.`)
}

async function* endedKeys(keys: Keys, state: 'expired' | 'revoked', before: number): AsyncGenerator<ApiKey> {
  for await (const key of keys.all({ state })) if (endOf(key) < before) yield key
}

function endOf({ expiresAt = Number.POSITIVE_INFINITY, revokedAt = Number.POSITIVE_INFINITY }: ApiKey): number {
  return Math.min(expiresAt, revokedAt)
}

/** Returns false for a key that somebody else has removed or changed since it was read. */
async function remove(keys: Keys, id: string): Promise<boolean> {
  try {
    await keys.remove(id)
    return true
  } catch (error) {
    const code = codeOf(error)
    if (code === 'key_not_found' || code === 'key_not_ended') return false
    throw error
  }
}
