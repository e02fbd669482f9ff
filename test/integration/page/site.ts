import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { documentRoute } from '../../../adapters/cli/openapi/openapi.ts'
import { installedViewer, referenceRoutes } from '../../../adapters/cli/openapi/reference.ts'
import { logRequests, rememberKeys } from '../../../adapters/cli/page/request-log.ts'
import { type PageOptions, pageRoutes } from '../../../adapters/cli/page/routes.ts'
import { serve } from '../../../adapters/hosts/node/index.ts'
import { withSite } from '../../../adapters/hosts/node/site.ts'
import { createPetStore, memory, type PetStatus } from '../../../src/index.ts'
import { manualClock } from '../../../src/testing/index.ts'

const ANIMALS = ['Rex', 'Misty', 'Bubbles', 'Nibbles', 'Kiwi', 'Shelly', 'Ziggy', 'Pepper']
const STATUSES = ['available', 'available', 'pending', 'sold'] as const

/** The secret in the address of the page. */
export const SECRET = 'the-secret-of-this-run--'

export interface StartOptions {
  readonly port?: number
  /** A second token of the same key, such as the token from before a restart of the server. */
  readonly token?: string
  /** The limit per minute of the key. */
  readonly perMinute?: number
}

/** Starts a pet store with its page, eight animals and a key of the `free` plan. Its clock stands still. */
export async function startSite(
  options: Partial<PageOptions> = {},
  { port = 0, token: fixed, perMinute = 60 }: StartOptions = {},
) {
  const clock = manualClock(Date.UTC(2026, 5, 1, 12))
  const backEnd = memory({ clock })
  for (const [index, name] of ANIMALS.entries())
    await backEnd.storage.create({ name, categoryId: BigInt(index + 1), status: STATUSES[index % 4] as PetStatus })
  const { token, key } = await backEnd.keyStore.issue({
    plan: 'free',
    label: 'demo key, free',
    limits: { perMinute, perDay: 1_000 },
  })
  const find = (text: string) => (text === fixed ? key : backEnd.keyStore.find(text))
  const { keyStore, keyOf } = rememberKeys({ find })
  const plainStore = createPetStore({ ...backEnd, keyStore, clock })
  const petStore = logRequests(plainStore, keyOf)
  const pages = pageRoutes({
    secret: SECRET,
    basePath: petStore.basePath,
    demoKeys: () => [{ id: key.id, plan: 'free', token }],
    usageOf: async (token) => {
      const known = await find(token)
      return known && plainStore.keys.usage(known)
    },
    pets: plainStore.pets,
    log: petStore,
    folder: join(import.meta.dirname, '../../../dist/page'),
    ...options,
  })
  const site = {
    '/openapi.json': documentRoute(petStore),
    ...referenceRoutes(petStore, installedViewer()),
    ...pages,
  }
  const server = await serve(withSite(petStore, site), { port })
  onTestFinished(server.close)
  return {
    ...server,
    ...backEnd,
    pets: plainStore.pets,
    port: Number(new URL(server.url).port),
    clock,
    token: fixed ?? token,
  }
}
