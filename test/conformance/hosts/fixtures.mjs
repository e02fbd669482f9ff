import { createPetStore, memory } from 'petstore-kit'

// The stores of every host program. Each store has its own base path, so that one process serves all rules of the suite.
// This module creates no random values or timers during import: Workers allow them only during a request.

/** The time that every store's clock shows: 30 seconds before the end of a minute, half a day before the end of a day. */
export const NOW = Date.UTC(2027, 0, 15, 12, 0, 30)
const clock = { now: () => NOW }
/** Creates the back end of a store. A program can set `globalThis.newBackEnd` before it imports this file. */
const { newBackEnd = memory } = globalThis
const AMPLE = { perMinute: 1e6, perDay: 1e6 }

/** Events that the suite reads with GET /probe. */
const noticed = { addresses: {}, started: 0, aborted: 0, falselyAborted: 0, faults: [], passed: 0 }

/** A key store in which any token `<plan>-<anything>` is a valid key of this plan, so that each rule can use its own keys. Those of `reader` may only read. */
const keyStore = {
  find(token) {
    const [plan, ...rest] = token.split('-')
    if (rest.length === 0 || !(plan in plans)) return undefined
    return { id: token, plan, access: plan === 'reader' ? 'read' : 'write' }
  },
}
const plans = { ample: AMPLE, reader: AMPLE, tiny: { perMinute: 3, perDay: 10 } }

function store(name, options = {}) {
  return createPetStore({
    ...newBackEnd({ clock }),
    keyStore,
    clock,
    plans,
    anonymous: AMPLE,
    basePath: `/${name}/v1`,
    onResponse: ({ clientAddress }) => {
      noticed.addresses[name] = clientAddress ?? null
    },
    ...options,
  })
}

function throwing() {
  throw new Error('secret cause')
}

/** Resolves only when the client disconnects. */
function untilAbort(_query, { signal }) {
  noticed.started += 1
  return new Promise((resolve) => {
    const onAbort = () => {
      noticed.aborted += 1
      resolve([])
    }
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort)
  })
}

/** Finds no key. For the token `leaves`, waits until the client disconnects. */
function untilLeft(token, context) {
  return token === 'leaves' ? untilAbort(undefined, context).then(() => undefined) : undefined
}

/** Creates an animal, and counts how often the signal aborts during this time. */
async function watchfulCreate(pet, { signal }) {
  signal?.addEventListener('abort', () => {
    noticed.falselyAborted += 1
  })
  await new Promise((resolve) => setTimeout(resolve, 20))
  if (signal?.aborted) noticed.falselyAborted += 1
  return { ...pet, id: 1n }
}

const { storage } = newBackEnd({ clock })
const issued = newBackEnd({ clock })
const failing = store('rejecting')

/** The stores, each with the options of its handler. */
export const mounts = [
  { petStore: store('main', { basePath: '/v1' }) },
  { petStore: store('pages') },
  { petStore: store('quota') },
  { petStore: store('ban', { ban: { afterRefusals: 2, seconds: 90 } }) },
  { petStore: store('anonymous', { anonymous: { perMinute: 2, perDay: 10 } }) },
  { petStore: store('spoofed', { anonymous: { perMinute: 1, perDay: 1 } }) },
  { petStore: store('hops', { anonymous: { perMinute: 1, perDay: 1 } }), options: { trustProxy: 1 } },
  { petStore: store('cidr'), options: { trustProxy: ['127.0.0.0/8', '::1', '10.0.0.0/8'] } },
  { petStore: store('small', { bodyLimit: 100 }) },
  { petStore: store('big', { bodyLimit: 4_000_000 }) },
  { petStore: store('cors', { cors: { origins: ['https://shop.example'] } }) },
  { petStore: store('public', { publicUrl: 'https://api.example/public/v1' }) },
  { petStore: store('removed', { clock: { now: () => Date.UTC(2030, 11, 5) } }) },
  { petStore: store('issued', { ...issued }) },
  {
    petStore: store('faulty', {
      storage: { ...storage, list: throwing, get: () => new Promise(() => {}) },
      timeout: 50,
      onError: (error) => noticed.faults.push(error.message),
    }),
  },
  { petStore: store('leaving', { storage: { ...storage, list: untilAbort, create: watchfulCreate } }) },
  { petStore: store('left', { anonymous: { perMinute: 1, perDay: 9 }, keyStore: { find: untilLeft } }) },
  { petStore: { ...failing, handle: () => Promise.reject(new Error('secret cause')), fetch: failing.fetch } },
]

/** The stores for `/shop/v1`. A host with prefixes mounts `below` under `/shop`. Any other host mounts `whole`. */
export const below = store('below', { basePath: '/v1' })
export const whole = store('whole', { basePath: '/shop/v1' })

/** The host's own routes: the recorded events, a new key, and `/before` and `/after`. */
export async function ownRoute(path) {
  if (path === '/probe') return JSON.stringify(noticed)
  if (path === '/issue') return (await issued.keyStore.issue({ plan: 'ample', limits: AMPLE })).token
  return path === '/before' || path === '/after' ? `own ${path}` : undefined
}

/** Call this for each request that no pet store has served. */
export function passedOn() {
  noticed.passed += 1
}

/** Returns the store that serves a path, for hosts without a router. */
export function mountOf(path) {
  return [...mounts, { petStore: whole }].find(({ petStore: { basePath } }) => `${path}/`.startsWith(`${basePath}/`))
}

/** Returns a fetch function that serves all routes and stores. `toHandler` makes the handler of a store. */
export function toFetch(toHandler) {
  const handlers = new Map([...mounts, { petStore: whole }].map((mount) => [mount.petStore, toHandler(mount)]))
  return async (request, ...rest) => {
    // If the Host header is invalid, `request.url` is a path without an origin on Bun.
    const path = new URL(request.url, 'http://localhost').pathname
    const own = await ownRoute(path)
    if (own !== undefined) return new Response(own)
    const mount = mountOf(path)
    if (mount === undefined) return new Response('not ours', { status: 404 })
    return handlers.get(mount.petStore)(request, ...rest)
  }
}
