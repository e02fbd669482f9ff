import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { documentRoutes } from '../../../adapters/cli/openapi.ts'
import { findSwagger, type PageOptions, pageRoutes } from '../../../adapters/cli/page/routes.ts'
import { watchUsage } from '../../../adapters/cli/page/usage.ts'
import { withSite } from '../../../adapters/cli/site.ts'
import { serve } from '../../../adapters/hosts/node/index.ts'
import { createPetStore, memory } from '../../../src/index.ts'
import { manualClock } from '../../../src/testing/index.ts'

const ANIMALS = ['Rex', 'Misty', 'Bubbles', 'Nibbles', 'Kiwi', 'Shelly', 'Ziggy', 'Pepper']
const STATUSES = ['available', 'available', 'pending', 'sold'] as const

/** The secret in the address of the page. */
export const SECRET = 'of-this-run'

/** Starts a pet store with its page, eight animals and a key of the `free` plan. Its clock stands still. */
export async function startSite(options: Partial<PageOptions> = {}) {
  const clock = manualClock(Date.UTC(2026, 5, 1, 12))
  const backEnd = memory({ clock })
  for (const [index, name] of ANIMALS.entries())
    await backEnd.storage.create({ name, categoryId: BigInt(index + 1), status: STATUSES[index % 4] })
  const { token } = await backEnd.keyStore.issue({ plan: 'free' })
  const { usageOf, ...watched } = watchUsage(backEnd, clock)
  const petStore = createPetStore({ ...backEnd, ...watched, clock })
  const pages = pageRoutes({
    secret: SECRET,
    basePath: petStore.basePath,
    demoKeys: () => [{ plan: 'free', token }],
    usageOf,
    folder: join(import.meta.dirname, '../../../dist/page'),
    swaggerFolder: findSwagger(),
    ...options,
  })
  const server = await serve(withSite(petStore, { ...documentRoutes({}), ...pages }), { port: 0 })
  onTestFinished(server.close)
  return { ...server, ...backEnd, clock, token }
}
