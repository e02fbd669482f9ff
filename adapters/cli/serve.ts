import { isPetStoreError } from '../../src/errors.ts'
import {
  type BackEnd,
  createPetStore,
  type ErrorReport,
  type IssuedKey,
  type PetStore,
  type ResponseReport,
} from '../../src/index.ts'
import { serve } from '../hosts/node/index.ts'
import { type BackEndFlags, isPersistent, openBackEnd, usePlace } from './back-end.ts'
import { closeOnSignal } from './closing.ts'
import { reason } from './driver.ts'
import { type Furnished, type FurnishFlags, furnish } from './furnish.ts'
import type { OpenedBackEnd } from './opened-back-end.ts'
import { type DemoKey, isLoopback, pageRoutes } from './page/routes.ts'
import { watchUsage } from './page/usage.ts'
import { withSite } from './site.ts'
import { requireWritable } from './sqlite-file.ts'

/** The flags of `petstore serve`. */
export interface ServeFlags extends BackEndFlags, FurnishFlags {
  readonly port: number
  readonly host: string
  readonly basePath: string
  readonly log?: true
}

/** Runs `petstore serve` until it is told to stop. */
export async function runServe(flags: ServeFlags): Promise<void> {
  if (flags.data !== undefined) requireWritable(flags.data)
  const backEnd = await openBackEnd(flags)
  try {
    await usePlace(backEnd, () => run(backEnd, flags))
  } catch (error) {
    await backEnd.close()
    throw error
  }
}

async function run(backEnd: OpenedBackEnd, flags: ServeFlags): Promise<void> {
  const { usageOf, ...watched } = watchUsage(backEnd, Date)
  const petStore = createStore({ ...backEnd, ...watched }, flags)
  let demoKeys: readonly DemoKey[] = []
  const site = withSite(petStore, pageRoutes({ basePath: petStore.basePath, demoKeys: () => demoKeys, usageOf }))
  // A server that cannot listen must not have issued keys that nobody was shown.
  const server = await serve(site, { port: flags.port, host: flags.host })
  const ending = closeOnSignal(server.close, async () => {
    await furnishing.catch(() => {})
    await backEnd.close()
  })
  const furnishing = furnish(backEnd, flags, ending)
  try {
    const furnished = await furnishing
    if (!isPersistent(flags) && isLoopback(flags.host))
      demoKeys = furnished.keys.map(({ key, token }) => ({ plan: key.plan, token }))
    if (!ending.aborted) console.log(welcome(server.url + petStore.basePath, backEnd.place, furnished, flags))
  } catch (error) {
    await server.close()
    // Whoever has ended it does not want to hear what was broken off.
    if (!ending.aborted) throw error
  }
}

function createStore({ storage, keyStore, quota }: BackEnd, flags: ServeFlags): PetStore {
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
