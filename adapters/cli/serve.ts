import { createPetStore, type IssuedKey, memory, type ResponseReport } from '../../src/index.ts'
import { serve } from '../node.ts'
import { issueDemoKeys, seed } from './demo.ts'
import type { PlanLimitsByName } from './flags.ts'

/** The flags of `petstore serve`. */
export interface ServeFlags {
  readonly port: number
  readonly host: string
  readonly basePath: string
  readonly seed: number
  readonly planLimits: PlanLimitsByName
  readonly log?: true
}

/** Runs `petstore serve` until it is told to stop. */
export async function runServe(flags: ServeFlags): Promise<void> {
  const backEnd = memory()
  const petStore = createPetStore({
    ...backEnd,
    basePath: flags.basePath,
    plans: flags.planLimits,
    onError: (error, { method, target }) => console.error(`petstore: ${method} ${target} failed:`, error),
    onResponse: flags.log && logRequest,
  })
  await seed(backEnd.storage, flags.seed)
  const keys = await issueDemoKeys(backEnd.keyStore, flags.planLimits)
  const server = await serve(petStore, { port: flags.port, host: flags.host })
  console.log(welcome(server.url + petStore.basePath, keys, flags.seed))
  closeOnSignal(server.close)
}

function welcome(address: string, keys: readonly IssuedKey[], animals: number): string {
  const [{ token }] = keys as [IssuedKey]
  const pets = `${address}/pets`
  const width = Math.max(...keys.map(({ key }) => key.plan.length))
  return [
    `Pet store on ${address}, with ${animals} animals, in memory: gone when this ends.`,
    '',
    'API keys, one for each plan:',
    ...keys.map(({ key, token }) => `  ${key.plan.padEnd(width)}  ${token}`),
    '',
    'Try it:',
    `  curl -i -H 'Authorization: Bearer ${token}' ${quoted(`${pets}?limit=2`)}`,
    `  curl -i -H 'Authorization: Bearer ${token}' -H 'Content-Type: application/json' -d '{"name":"Tiger","categoryId":1}' ${quoted(pets)}`,
    '',
    'Ctrl-C ends it.',
  ].join('\n')
}

/** As one word of a shell: a base path may hold characters that mean something there. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

function logRequest({ method, target, status, keyId, durationMs }: ResponseReport): void {
  const who = keyId ?? 'no key'
  console.log(
    `${new Date().toISOString()} ${status} ${method} ${JSON.stringify(target).slice(1, -1)} ${who} ${durationMs} ms`,
  )
}

/** The first signal lets running requests finish; a second one does not wait. */
function closeOnSignal(close: () => Promise<void>): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      console.log('\nClosing.')
      process.once(signal, () => process.exit(1))
      void close()
    })
  }
}
