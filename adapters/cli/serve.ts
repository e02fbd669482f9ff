import { isPetStoreError } from '../../src/errors.ts'
import {
  type ApiRequest,
  type BackEnd,
  type CorsOptions,
  createPetStore,
  type ErrorReport,
  type IssuedKey,
  type PetStore,
  type ResponseReport,
} from '../../src/index.ts'
import { serve, type TrustProxy } from '../hosts/node/index.ts'
import { type BackEndFlags, isPersistent, openBackEnd } from './back-end.ts'
import { addDemoPets, issueDemoKeys, leaveTimeForOthers } from './demo-data.ts'
import { type OpenedBackEnd, reason, using } from './driver.ts'
import { fixedKeys, withKnownKeys } from './fixed-keys.ts'
import { type FixedKey, knownPlans, type LogFormat, type PlanLimitsByName } from './flags.ts'
import { fail, printable, shellWord } from './output.ts'
import { type DemoKey, isLoopback, pageRoutes } from './page/routes.ts'
import { watchUsage } from './page/usage.ts'
import { operatingRoutes, readyCheck, withSite } from './site.ts'
import { requireWritable } from './sqlite-file.ts'

/** The flags of `petstore serve`. */
export interface ServeFlags extends BackEndFlags {
  readonly port: number
  readonly host: string
  readonly basePath: string
  readonly publicUrl?: string
  readonly cors?: boolean | CorsOptions
  readonly trustProxy?: TrustProxy
  readonly bodyLimit?: number
  readonly planLimits: PlanLimitsByName
  readonly key?: readonly FixedKey[]
  readonly insecureKeys?: true
  readonly demo?: true
  readonly seed?: number
  readonly log?: LogFormat
  readonly json?: true
}

/** How long running requests may take to finish when the server closes, in milliseconds. */
const CLOSE_TIMEOUT = 10_000

/** Runs `petstore serve` until a signal ends it. */
export async function runServe(flags: ServeFlags): Promise<void> {
  checkFixedKeys(flags)
  if (flags.data !== undefined) requireWritable(flags.data)
  const opened = await openBackEnd(flags)
  const known = fixedKeys(flags.key ?? [], flags.planLimits)
  const backEnd = { ...opened, keyStore: withKnownKeys(opened.keyStore, known) }
  try {
    await run(backEnd, flags)
  } catch (error) {
    await backEnd.close()
    throw error
  }
}

/** A fixed token stands in files and shell histories, so only this machine may use it. */
function checkFixedKeys({ key = [], host, insecureKeys, planLimits }: ServeFlags): void {
  const plans = knownPlans(planLimits)
  const unknown = key.find(({ plan }) => !plans.includes(plan))?.plan
  if (unknown !== undefined)
    throw new Error(
      `--key: expected one of the plans ${plans.map(printable).join(', ')}, received ${printable(unknown)}; --plan-limits adds plans`,
    )
  if (key.length > 0 && !insecureKeys && !isLoopback(host))
    throw new Error(
      `--key: expected a loopback --host such as 127.0.0.1, received ${printable(host)}; --insecure-keys allows fixed keys there`,
    )
}

async function run(backEnd: OpenedBackEnd, flags: ServeFlags): Promise<void> {
  const { usageOf, ...ports } = watchUsage(backEnd, Date)
  const petStore = createStore({ ...backEnd, ...ports }, flags)
  let demoKeys: readonly DemoKey[] = []
  const site = withSite(petStore, {
    ...operatingRoutes(readyCheck(backEnd)),
    ...pageRoutes({ basePath: petStore.basePath, demoKeys: () => demoKeys, usageOf }),
  })
  const { running, ...watched } = watchRequests(site)
  // Demo keys are issued only when the server listens: otherwise nobody would see them.
  const { port, host, trustProxy } = flags
  const server = await serve(watched, { port, host, trustProxy, closeTimeout: CLOSE_TIMEOUT })
  const closing = closeOnSignal(running, server.close, async () => {
    await adding.catch(() => {})
    await backEnd.close()
  })
  const adding = using(backEnd.place, () => addDemoData(backEnd, flags, closing))
  try {
    const added = await adding
    if (closing.aborted) return
    if (isOnlyForThisMachine(flags)) demoKeys = added.keys.map(({ key, token }) => ({ plan: key.plan, token }))
    const url = server.url + petStore.basePath
    console.log(flags.json ? startReport(url, backEnd.place, added) : welcome(url, backEnd.place, added, flags))
  } catch (error) {
    await server.close()
    // After a signal, an interrupted start is no error.
    if (!closing.aborted) throw error
  }
}

/** Returns whether the demo keys open nothing but a demo on this machine. A proxy in front would let others in. */
function isOnlyForThisMachine(flags: ServeFlags): boolean {
  const isProxied = flags.publicUrl !== undefined || Boolean(flags.trustProxy)
  return !isPersistent(flags) && isLoopback(flags.host) && !isProxied
}

function createStore({ storage, keyStore, quota }: BackEnd, flags: ServeFlags): PetStore {
  const { basePath, publicUrl, cors, bodyLimit, planLimits, log } = flags
  return createPetStore({
    storage,
    keyStore,
    quota,
    basePath,
    publicUrl,
    cors,
    bodyLimit,
    plans: planLimits,
    onError: log === 'json' ? logFaultAsJson : logFault,
    onResponse: log && (log === 'json' ? logResponseAsJson : logResponse),
  })
}

/** Keeps the set of running requests. */
function watchRequests(petStore: PetStore): PetStore & { readonly running: ReadonlySet<ApiRequest> } {
  const running = new Set<ApiRequest>()
  const handle: PetStore['handle'] = async (request) => {
    running.add(request)
    try {
      return await petStore.handle(request)
    } finally {
      running.delete(request)
    }
  }
  return { ...petStore, handle, running }
}

/** How long the back end may take to close, in milliseconds. An engine that hangs never closes its connections. */
const BACK_END_CLOSE_TIMEOUT = 2_000

/**
 * On the first signal, lets running requests finish and closes the back end. A second signal ends the process at once.
 *
 * @returns a signal that aborts when closing begins
 */
function closeOnSignal(
  running: ReadonlySet<ApiRequest>,
  closeServer: () => Promise<void>,
  closeBackEnd: () => Promise<void>,
): AbortSignal {
  const controller = new AbortController()
  const close = async () => {
    await closeServer()
    setTimeout(() => process.exit(), BACK_END_CLOSE_TIMEOUT).unref()
    await closeBackEnd()
  }
  const onSignal = () => {
    if (controller.signal.aborted) process.exit(1)
    console.error(`\n${closingMessage([...running])}`)
    controller.abort()
    close().catch(fail)
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, onSignal)
  return controller.signal
}

/** Returns what the server waits for while it closes, and for how long. */
export function closingMessage(running: readonly Pick<ApiRequest, 'method' | 'target'>[]): string {
  const [first, ...others] = running
  if (first === undefined) return 'Closing.'
  const more = others.length === 0 ? '' : ` and ${others.length} more`
  const request = `${first.method} ${oneLine(first.target)}`
  return `Closing: waiting up to ${CLOSE_TIMEOUT / 1_000} seconds for ${request}${more} to finish. Ctrl-C again ends it at once.`
}

/** The number of demo animals of an empty store. */
const DEMO_ANIMALS = 8

/** The demo data that a server has added when it started. */
interface AddedData {
  readonly animals: number
  readonly keys: readonly IssuedKey[]
  /** Whether there was a key before. */
  readonly hasKeys: boolean
}

/**
 * Adds demo animals and keys to an empty store: always in memory, elsewhere only with `--demo` or, for animals, `--seed`.
 *
 * @param closing - stops adding, and revokes the new keys, since nobody will see them
 */
export async function addDemoData(
  { storage, keyStore }: Pick<OpenedBackEnd, 'storage' | 'keyStore'>,
  flags: Pick<ServeFlags, 'data' | 'databaseUrl' | 'demo' | 'seed' | 'planLimits' | 'key'>,
  closing: AbortSignal,
): Promise<AddedData> {
  const isWanted = flags.demo || !isPersistent(flags)
  const animals = flags.seed ?? (isWanted ? DEMO_ANIMALS : 0)
  const isEmpty = animals > 0 && (await storage.list({ limit: 1 })).length === 0
  const pause = isPersistent(flags) ? leaveTimeForOthers : undefined
  if (isEmpty) await addDemoPets(storage, 0, animals, { signal: closing, ...(pause && { pause }) })
  const hasKeys = (await keyStore.list()).length > 0
  const keys = isWanted && !hasKeys && !closing.aborted ? await issueDemoKeys(keyStore, flags.planLimits) : []
  if (closing.aborted) await Promise.all(keys.map(({ key }) => keyStore.revoke(key.id)))
  return { animals: isEmpty ? animals : 0, keys, hasKeys }
}

/** Returns one line of JSON for the program that has started the server. */
function startReport(url: string, place: string, { animals, keys }: AddedData): string {
  const tokens = Object.fromEntries(keys.map(({ key, token }) => [key.plan, token]))
  return JSON.stringify({ url, place, animals, keys: tokens })
}

function welcome(url: string, place: string, added: AddedData, flags: ServeFlags): string {
  const { animals } = added
  const kept = isPersistent(flags) ? `stored in ${place}` : `with ${animals} animals, in ${place}: gone when it ends`
  const addedAnimals = isPersistent(flags) && animals > 0 ? [`Added ${animals} demo animals.`] : []
  return [
    `Pet store on ${url}, ${kept}.`,
    `Open ${new URL('/', url)} in a browser to try it.`,
    ...addedAnimals,
    '',
    ...aboutKeys(url, added, flags),
    '',
    'Ctrl-C ends it.',
  ].join('\n')
}

function aboutKeys(url: string, { keys, hasKeys }: AddedData, flags: ServeFlags): string[] {
  const { data, databaseUrl, key: fixed = [] } = flags
  const [first] = keys
  const place = data === undefined ? '--database-url <url>' : `--data ${shellWord(data)}`
  const commands = [`  petstore keys issue ${place} --plan pro`, ...(hasKeys ? [`  petstore keys list ${place}`] : [])]
  if (first !== undefined) {
    const width = Math.max(...keys.map(({ key }) => key.plan.length))
    const pets = `${url}/pets`
    const header = `-H 'Authorization: Bearer ${first.token}'`
    return [
      'API keys, one for each plan:',
      ...keys.map(({ key, token }) => `  ${key.plan.padEnd(width)}  ${token}`),
      ...(isPersistent(flags) ? ['They are shown only this once.'] : []),
      '',
      'Try it:',
      `  curl -i ${header} ${quoted(`${pets}?limit=2`)}`,
      `  curl -i ${header} -H 'Content-Type: application/json' -d '{"name":"Tiger","categoryId":1}' ${quoted(pets)}`,
    ]
  }
  if (fixed.length > 0) return [`API keys: those of --key (${fixed.map(({ plan }) => printable(plan)).join(', ')}).`]
  if (data === undefined && databaseUrl === undefined) return ['API keys: none.']
  return [hasKeys ? 'API keys:' : 'There is no API key yet. Issue one in another terminal:', ...commands]
}

/** A base path may contain characters that mean something in a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** Prints one line if an engine is away, and the whole error if the code may be wrong. */
function logFault(error: unknown, { method, target }: ErrorReport): void {
  const isAway = isPetStoreError(error) && error.code === 'service_unavailable'
  console.error(`petstore: ${method} ${oneLine(target)} failed:`, isAway ? reason(error) : error)
}

function logFaultAsJson(error: unknown, { method, target }: ErrorReport): void {
  const stack = error instanceof Error ? error.stack : undefined
  console.error(JSON.stringify({ time: new Date(), level: 'error', method, target, error: reason(error), stack }))
}

/** Escapes characters that could control a terminal. */
function oneLine(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

function logResponse({ method, target, status, keyId, clientAddress, durationMs }: ResponseReport): void {
  const client = `${clientAddress ?? 'unknown address'} ${keyId ?? 'no key'}`
  console.log(`${new Date().toISOString()} ${status} ${method} ${oneLine(target)} ${client} ${durationMs} ms`)
}

function logResponseAsJson(report: ResponseReport): void {
  console.log(JSON.stringify({ time: new Date(), level: 'info', ...report }))
}
