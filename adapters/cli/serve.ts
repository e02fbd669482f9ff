import { isPetStoreError } from '../../src/errors.ts'
import {
  type ApiRequest,
  type BackEnd,
  type Clock,
  type CorsOptions,
  createPetStore,
  type ErrorReport,
  type IssuedKey,
  memory,
  type PetStore,
  type ResponseReport,
} from '../../src/index.ts'
import { serve, type TrustProxy } from '../hosts/node/index.ts'
import { type BackEndFlags, isPersistent, openBackEnd } from './back-end.ts'
import type { Service } from './control/test-double.ts'
import { addDemoPets, issueDemoKeys, leaveTimeForOthers } from './demo-data.ts'
import { type OpenedBackEnd, reason, using } from './driver.ts'
import { fixedKeys, withKnownKeys } from './fixed-keys.ts'
import { type FixedKey, knownPlans, type LogFormat, type PlanLimitsByName } from './flags.ts'
import { fail, flagOf, printable, shellWord } from './output.ts'
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
  readonly controlPort?: number
}

/** How long running requests may take to finish when the server closes, in milliseconds. */
const CLOSE_TIMEOUT = 10_000

/** Runs `petstore serve` until a signal ends it. */
export async function runServe(flags: ServeFlags): Promise<void> {
  checkFixedKeys(flags)
  if (flags.controlPort !== undefined) return runTestDouble(flags, flags.controlPort)
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
  const site = await serveSite(createService(backEnd, flags, Date), backEnd, flags)
  const closing = closeOnSignal(site.running, site.close, async () => {
    await adding.catch(() => {})
    await backEnd.close()
  })
  // Demo keys are issued only when the server listens: otherwise nobody would see them.
  const adding = using(backEnd.place, () => addDemoData(backEnd, flags, closing))
  try {
    const added = await adding
    if (!closing.aborted) site.announce(backEnd.place, added)
  } catch (error) {
    await site.close()
    // After a signal, an interrupted start is no error.
    if (!closing.aborted) throw error
  }
}

/** Serves a store in memory, and the API that steers it. */
async function runTestDouble(flags: ServeFlags, controlPort: number): Promise<void> {
  const other = (['data', 'databaseUrl', 'redisUrl'] as const).find((name) => flags[name] !== undefined)
  if (other !== undefined)
    throw new Error(
      `--control-port: expected a store in memory, which alone can be reset; received ${flagOf(other)} as well`,
    )
  const { createTestDouble } = await import('./control/test-double.ts')
  const { createControlApi } = await import('./control/api.ts')
  const { key = [], planLimits, seed = DEMO_ANIMALS } = flags
  const demoKeys = key.length > 0 ? [] : await issueDemoKeys(memory().keyStore, planLimits)
  const double = await createTestDouble({
    createService: (ports, clock) => createService(ports, flags, clock),
    addPets: (storage) => addDemoPets(storage, 0, seed),
    keys: [...fixedKeys(key, planLimits), ...demoKeys],
    plans: knownPlans(planLimits),
    clock: Date,
  })
  const site = await serveSite(double, double.ports(), flags)
  const control = await serve(createControlApi(double), { port: controlPort }).catch(async (error) => {
    await site.close()
    throw Object.assign(error, { flag: '--control-port' })
  })
  closeOnSignal(site.running, site.close, control.close)
  site.announce('memory', { animals: seed, keys: demoKeys, hasKeys: key.length > 0 }, control.url)
}

/** A server with the API and the routes outside the base path. */
interface RunningSite {
  /** The requests that run. */
  readonly running: ReadonlySet<ApiRequest>
  /** Prints the addresses and the keys. */
  announce(place: string, added: AddedData, controlUrl?: string): void
  close(): Promise<void>
}

async function serveSite(service: Service, ports: BackEnd, flags: ServeFlags): Promise<RunningSite> {
  const { petStore, usageOf } = service
  let demoKeys: readonly DemoKey[] = []
  const site = withSite(petStore, {
    ...operatingRoutes(readyCheck(ports)),
    ...pageRoutes({ basePath: petStore.basePath, demoKeys: () => demoKeys, usageOf }),
  })
  const { running, ...watched } = watchRequests(site)
  const { port, host, trustProxy } = flags
  const { url, close } = await serve(watched, { port, host, trustProxy, closeTimeout: CLOSE_TIMEOUT })
  const announce: RunningSite['announce'] = (place, added, controlUrl) => {
    if (isOnlyForThisMachine(flags)) demoKeys = added.keys.map(({ key, token }) => ({ plan: key.plan, token }))
    const api = url + petStore.basePath
    console.log(flags.json ? startReport(api, place, added, controlUrl) : welcome(api, place, added, flags, controlUrl))
  }
  return { running, announce, close }
}

/** Returns whether the demo keys open nothing but a demo on this machine. A proxy in front would let others in. */
function isOnlyForThisMachine(flags: ServeFlags): boolean {
  const isProxied = flags.publicUrl !== undefined || Boolean(flags.trustProxy)
  return !isPersistent(flags) && isLoopback(flags.host) && !isProxied
}

/** Creates the pet store of a back end, and watches its counts for the page. */
function createService(backEnd: BackEnd, flags: ServeFlags, clock: Clock): Service {
  const { usageOf, ...ports } = watchUsage(backEnd, clock)
  return { petStore: createStore({ ...backEnd, ...ports }, flags, clock), usageOf }
}

function createStore({ storage, keyStore, quota }: BackEnd, flags: ServeFlags, clock: Clock): PetStore {
  const { basePath, publicUrl, cors, bodyLimit, planLimits, log } = flags
  return createPetStore({
    storage,
    keyStore,
    quota,
    clock,
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
function startReport(url: string, place: string, { animals, keys }: AddedData, control?: string): string {
  const tokens = Object.fromEntries(keys.map(({ key, token }) => [key.plan, token]))
  return JSON.stringify({ url, control, place, animals, keys: tokens })
}

function welcome(url: string, place: string, added: AddedData, flags: ServeFlags, control?: string): string {
  const { animals } = added
  const kept = isPersistent(flags) ? `stored in ${place}` : `with ${animals} animals, in ${place}: gone when it ends`
  const addedAnimals = isPersistent(flags) && animals > 0 ? [`Added ${animals} demo animals.`] : []
  return [
    `Pet store on ${url}, ${kept}.`,
    `Open ${new URL('/', url)} in a browser to try it.`,
    ...addedAnimals,
    ...(control === undefined ? [] : [`Control API on ${control}, described by ${control}/openapi.json.`]),
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
