import { type BackEnd, type Clock, createPetStore, type InitialPet, memory } from '../../../src/index.ts'
import { serve } from '../../hosts/node/index.ts'
import { withSite } from '../../hosts/node/site.ts'
import { isPersistent, openBackEnd } from '../engines/back-end.ts'
import { closeOnFailure, type OpenedBackEnd, using } from '../engines/driver.ts'
import { requireWritable } from '../engines/sqlite-file.ts'
import { checkFaultFlags, faultsOfFlags, hasFaults } from '../faults/faults.ts'
import { createFaultyService, type Service } from '../faults/service.ts'
import { documentRoute } from '../openapi/openapi.ts'
import { installedViewer, referenceRoutes } from '../openapi/reference.ts'
import { logRequests, rememberKeys } from '../page/request-log.ts'
import { type DemoKey, pageRoutes } from '../page/routes.ts'
import { isLoopback, newSecret } from '../page/visitor.ts'
import { readPets } from '../pets/animals.ts'
import { addDemoPets } from '../pets/demo-pets.ts'
import { type ServeFlags, secretsOf } from '../terminal/flags.ts'
import { flagOf } from '../terminal/output.ts'
import { checkControl, DEFAULT_CONTROL_HOST } from './control.ts'
import { type AddedData, addDemoData, DEMO_ANIMALS, issueDemoKeys } from './demo-data.ts'
import { checkFixedKeys, fixedKeys, withFixedKeys } from './fixed-keys.ts'
import { logTo } from './log.ts'
import { CLOSE_TIMEOUT, closeOnSignal, drainDelayOf } from './shutdown.ts'
import { startJson, startText } from './start-text.ts'

/** Runs `petstore serve` until SIGINT or SIGTERM. */
export async function runServe(flags: ServeFlags): Promise<void> {
  checkFixedKeys(flags)
  checkControl(flags)
  checkFaultFlags(flags)
  if (flags.controlPort !== undefined) return runTestDouble(flags, flags.controlPort)
  if (flags.data !== undefined) requireWritable(flags.data)
  const opened = await openBackEnd(flags, await initialPets(flags))
  const known = fixedKeys(flags.key ?? [], flags.planLimits)
  const backEnd = { ...opened, keyStore: withFixedKeys(opened.keyStore, known) }
  await closeOnFailure(backEnd.close, () => serveBackEnd(backEnd, flags))
}

/** Reads the animals of `--pets`. */
async function initialPets(flags: ServeFlags): Promise<readonly InitialPet[]> {
  if (flags.pets === undefined) return []
  if (isPersistent(flags)) throw new Error('--pets is for a store in memory: use petstore pets import instead')
  return readPets(flags.pets)
}

async function serveBackEnd(backEnd: OpenedBackEnd, flags: ServeFlags): Promise<void> {
  const service = hasFaults(flags)
    ? createFaultyService((ports) => createService(ports, flags, Date), backEnd, faultsOfFlags(flags))
    : createService(backEnd, flags, Date)
  const { close, showStart } = await serveSite(service, flags)
  const closing = closeOnSignal(drainDelayOf(flags), close, async () => {
    await adding.catch(() => {})
    await backEnd.close()
  })
  // Demo keys are issued only when the server listens: if it could not listen, nobody would ever
  // see these keys.
  const adding = using(backEnd.name, () => addDemoData(backEnd, flags, closing))
  try {
    const added = await adding
    if (!closing.aborted) showStart(backEnd.name, added)
  } catch (error) {
    await close()
    // After SIGINT or SIGTERM, an interrupted start is no error.
    if (!closing.aborted) throw error
  }
}

async function runTestDouble(flags: ServeFlags, controlPort: number): Promise<void> {
  const other = (['data', 'databaseUrl', 'redisUrl'] as const).find((name) => flags[name] !== undefined)
  if (other !== undefined)
    throw new Error(
      `--control-port: only a store in memory can be reset, so it cannot be used together with ${flagOf(other)}`,
    )
  const { createTestDouble } = await import('../test-double/test-double.ts')
  const { createControlApi } = await import('../test-double/api.ts')
  const { key = [], planLimits, seed = flags.pets === undefined ? DEMO_ANIMALS : 0 } = flags
  const demoKeys = key.length > 0 ? [] : await issueDemoKeys(memory().keyStore, planLimits)
  const known = [...fixedKeys(key, planLimits), ...demoKeys]
  const pets = await initialPets(flags)
  const double = await createTestDouble({
    createService: (backEnd, clock) => createService(backEnd, flags, clock),
    pets,
    addPets: (storage) => addDemoPets(storage, 0, seed),
    keys: known,
    plans: planLimits,
    clock: Date,
    faults: faultsOfFlags(flags),
  })
  const { close, showStart } = await serveSite(double, flags)
  const { controlHost: host = DEFAULT_CONTROL_HOST, controlSecret } = flags
  const secret = controlSecret ?? newSecret()
  const controlApi = createControlApi(double, { secret, host })
  const control = await serve(controlApi, { port: controlPort, host }).catch(async (error) => {
    await close()
    throw Object.assign(error, { portFlag: '--control-port', hostFlag: '--control-host' })
  })
  closeOnSignal(drainDelayOf(flags), close, control.close)
  const added = { animals: pets.length + seed, keys: demoKeys }
  // As no output contains the tokens of `--key`, none contains the secret of `--control-secret`.
  showStart('memory', added, controlSecret === undefined ? `${control.url}/${secret}` : control.url)
}

async function serveSite({ petStore, pets, usageOf, keyOf, resets, faults }: Service, flags: ServeFlags) {
  const { port, host, trustProxy, publicUrl } = flags
  const { basePath } = petStore
  const secret = newSecret()
  let demoKeys: readonly DemoKey[] = []
  const logged = logRequests(petStore, keyOf, secretsOf(flags))
  const site = withSite(logged, {
    '/favicon.ico': () => ({ status: 204, headers: ['Cache-Control', 'max-age=86400'], body: '' }),
    '/openapi.json': documentRoute(petStore),
    ...referenceRoutes(petStore, installedViewer()),
    ...pageRoutes({ basePath, secret, demoKeys: () => demoKeys, usageOf, pets, log: logged, resets, faults }),
  })
  const closing = { drainDelay: drainDelayOf(flags), closeTimeout: CLOSE_TIMEOUT }
  const { url, close } = await serve(site, { port, host, trustProxy, ...closing })
  const showStart = (storedIn: string, added: AddedData, control?: string) => {
    // If only this machine can reach the server and nothing is stored, the page may show the demo
    // keys.
    if (!isPersistent(flags) && isLoopback(host) && publicUrl === undefined && !trustProxy)
      demoKeys = added.keys.map(({ key: { id, plan }, token }) => ({ id, plan, token }))
    const addresses = { api: url + basePath, page: `${url}/#${secret}`, control }
    const inForce = faults?.inForce() ?? []
    const text = flags.json
      ? startJson(addresses, storedIn, added, inForce)
      : startText(addresses, storedIn, added, flags, inForce)
    // With `--log json`, each line of standard output must be a JSON object, so other text goes to
    // standard error.
    if (flags.log === 'json' && !flags.json) console.error(text)
    else console.log(text)
  }
  return { close, showStart }
}

function createService(backEnd: BackEnd, flags: ServeFlags, clock: Clock): Service {
  const { storage, quota } = backEnd
  const { keyStore, keyOf } = rememberKeys(backEnd.keyStore)
  const {
    basePath,
    publicUrl,
    cors,
    bodyLimit,
    planLimits: plans,
    sunset,
    readOnly,
    requestId,
    standardRateLimitHeaders,
    log,
  } = flags
  const rules = { basePath, publicUrl, cors, bodyLimit, plans, sunset, readOnly, requestId, standardRateLimitHeaders }
  const options = { storage, keyStore, quota, clock, ...rules, ...logTo(log, secretsOf(flags)) }
  const petStore = createPetStore(options)
  const usageOf = async (token: string) => {
    const key = await keyStore.find(token)
    return key ? petStore.keys.usage(key) : undefined
  }
  return { petStore, pets: petStore.pets, usageOf, keyOf }
}
