import { isPetStoreError } from '../../src/door.ts'
import {
  createPetStore,
  type ErrorReport,
  type IssuedKey,
  type PetStore,
  type ResponseReport,
} from '../../src/index.ts'
import { type ServingPetStore, serve } from '../node.ts'
import { type BackEndFlags, isPersistent, openBackEnd } from './back-end.ts'
import { issueDemoKeys, seed } from './demo.ts'
import { reason } from './driver.ts'
import { fail } from './fail.ts'
import type { PlanLimitsByName } from './flags.ts'
import type { OpenedBackEnd } from './opened-back-end.ts'
import { requireWritable } from './sqlite-file.ts'

/** The flags of `petstore serve`. */
export interface ServeFlags extends BackEndFlags {
  readonly port: number
  readonly host: string
  readonly basePath: string
  readonly seed?: number
  readonly planLimits: PlanLimitsByName
  readonly log?: true
}

/** Runs `petstore serve` until it is told to stop. */
export async function runServe(flags: ServeFlags): Promise<void> {
  if (flags.data !== undefined) requireWritable(flags.data)
  const backEnd = await openBackEnd(flags)
  let server: ServingPetStore | undefined
  const close = async () => {
    await server?.close()
    await backEnd.close()
  }
  try {
    const petStore = createStore(backEnd, flags)
    // A server that cannot listen must not have issued keys that nobody was shown.
    server = await serve(petStore, { port: flags.port, host: flags.host })
    const furnished = await furnish(backEnd, flags)
    closeOnSignal(close)
    console.log(welcome(server.url + petStore.basePath, backEnd.place, furnished, flags))
  } catch (error) {
    await close()
    throw error
  }
}

function createStore({ storage, keyStore, quota }: OpenedBackEnd, flags: ServeFlags): PetStore {
  return createPetStore({
    storage,
    keyStore,
    quota,
    basePath: flags.basePath,
    plans: flags.planLimits,
    onError: logFault,
    onResponse: flags.log && logRequest,
  })
}

const DEMO_ANIMALS = 8

/** What a server has put into its back end when it started. */
interface Furnished {
  readonly animals: number
  /** Empty where there were keys before, or where they are for the operator to issue. */
  readonly keys: readonly IssuedKey[]
}

/** A new store in memory or in a file gets demo animals and keys; what is in a shared database is for its operator to say. */
async function furnish({ storage, keyStore }: OpenedBackEnd, flags: ServeFlags): Promise<Furnished> {
  const isShared = flags.databaseUrl !== undefined
  const animals = flags.seed ?? (isShared ? 0 : DEMO_ANIMALS)
  const isEmpty = animals > 0 && (await storage.list({ limit: 1 })).length === 0
  if (isEmpty) await seed(storage, animals)
  const hasKeys = isShared || (await keyStore.list()).length > 0
  return { animals: isEmpty ? animals : 0, keys: hasKeys ? [] : await issueDemoKeys(keyStore, flags.planLimits) }
}

function welcome(address: string, place: string, { animals, keys }: Furnished, flags: ServeFlags): string {
  const kept = isPersistent(flags) ? `kept in ${place}` : `with ${animals} animals, in ${place}: gone when this ends`
  const added = isPersistent(flags) && animals > 0 ? [`${animals} demo animals were added.`] : []
  return [
    `Pet store on ${address}, ${kept}.`,
    ...added,
    '',
    ...aboutKeys(address, keys, flags),
    '',
    'Ctrl-C ends it.',
  ].join('\n')
}

function aboutKeys(address: string, keys: readonly IssuedKey[], { data }: ServeFlags): string[] {
  const [first] = keys
  const pets = `${address}/pets`
  const place = data === undefined ? '--database-url <url>' : `--data ${asWord(data)}`
  if (first === undefined) return [`API keys: petstore keys list ${place}, petstore keys issue ${place} --plan pro`]
  const width = Math.max(...keys.map(({ key }) => key.plan.length))
  return [
    'API keys, one for each plan:',
    ...keys.map(({ key, token }) => `  ${key.plan.padEnd(width)}  ${token}`),
    ...(data === undefined ? [] : ['This is the only time that they are shown.']),
    '',
    'Try it:',
    `  curl -i -H 'Authorization: Bearer ${first.token}' ${quoted(`${pets}?limit=2`)}`,
    `  curl -i -H 'Authorization: Bearer ${first.token}' -H 'Content-Type: application/json' -d '{"name":"Tiger","categoryId":1}' ${quoted(pets)}`,
  ]
}

/** As one word of a shell: a base path may hold characters that mean something there. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** A text that needs no quotes stays as it is. */
function asWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : quoted(text)
}

/** An engine that is away is no fault of the code: that takes a line. Of all else the whole is shown. */
function logFault(error: unknown, { method, target }: ErrorReport): void {
  const isAway = isPetStoreError(error) && error.code === 'service_unavailable'
  console.error(`petstore: ${method} ${oneLine(target)} failed:`, isAway ? reason(error) : error)
}

/** Without what would steer a terminal. */
function oneLine(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

function logRequest({ method, target, status, keyId, durationMs }: ResponseReport): void {
  const who = keyId ?? 'no key'
  console.log(`${new Date().toISOString()} ${status} ${method} ${oneLine(target)} ${who} ${durationMs} ms`)
}

/** The first signal lets running requests finish; a second one, of whichever kind, does not wait. */
function closeOnSignal(close: () => Promise<void>): void {
  let isClosing = false
  const onSignal = () => {
    if (isClosing) process.exit(1)
    isClosing = true
    console.log('\nClosing.')
    close().catch(fail)
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, onSignal)
}
