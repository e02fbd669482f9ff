import { createPetStore, memory } from 'petstore-kit'

// What every host program mounts. Each store stands under a base path of its own, so that one process serves all rows.
// Nothing here makes random values or timers while it is imported: Workers forbid both outside of a request.

/** The instant at which the stores live. Half a minute is left in its minute, half a day in its day. */
export const NOW = Date.UTC(2027, 0, 15, 12, 0, 30)
const clock = { now: () => NOW }
const AMPLE = { perMinute: 1e6, perDay: 1e6 }

/** What the stores noticed, for the suite to ask. */
const noticed = { addresses: {}, started: 0, aborted: 0, falselyAborted: 0, faults: [], passed: 0 }

/** Any token `<plan>-<anything>` is a live key of that plan, so that a row can take a key that nobody else spends. */
const keyStore = {
  find(token) {
    const [plan, ...rest] = token.split('-')
    return rest.length > 0 && plan in plans ? { id: token, plan } : undefined
  },
}
const plans = { ample: AMPLE, tiny: { perMinute: 3, perDay: 10 } }

function store(name, options = {}) {
  return createPetStore({
    ...memory({ clock }),
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

/** Waits for its client to leave; a client that stays is never answered. */
function untilAbort(_query, { signal }) {
  noticed.started += 1
  return new Promise((resolve) => {
    const leave = () => {
      noticed.aborted += 1
      resolve([])
    }
    if (signal.aborted) leave()
    else signal.addEventListener('abort', leave)
  })
}

/** Knows nobody, and tells of one only when the client has left. */
function untilLeft(token, context) {
  return token === 'leaves' ? untilAbort(undefined, context).then(() => undefined) : undefined
}

/** Looks at the signal from before the work of one request to after it. */
async function watchfulCreate(pet, { signal }) {
  signal?.addEventListener('abort', () => {
    noticed.falselyAborted += 1
  })
  await new Promise((resolve) => setTimeout(resolve, 20))
  if (signal?.aborted) noticed.falselyAborted += 1
  return { ...pet, id: 1n }
}

const { storage } = memory({ clock })
const issued = memory({ clock })
const failing = store('rejecting')

/** The stores, each with the options of its door. */
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

/** Mounted under the prefix `/shop`: by a host that knows prefixes below it, by any other as its whole path. */
export const below = store('below', { basePath: '/v1' })
export const whole = store('whole', { basePath: '/shop/v1' })

/** The host's own routes, for the suite: what was noticed, a new key, and two pages around the stores. */
export async function ownRoute(path) {
  if (path === '/probe') return JSON.stringify(noticed)
  if (path === '/issue') return (await issued.keyStore.issue({ plan: 'ample' })).token
  return path === '/before' || path === '/after' ? `own ${path}` : undefined
}

/** Counts what a store's door passes on. */
export function passedOn() {
  noticed.passed += 1
}

/** The store that answers a path, for hosts whose routing is the program's own. */
export function mountOf(path) {
  return [...mounts, { petStore: whole }].find(({ petStore: { basePath } }) => `${path}/`.startsWith(`${basePath}/`))
}

/** A whole server in one function, for runtimes that take one; `toHandler` is the door. */
export function toFetch(toHandler) {
  const handlers = new Map([...mounts, { petStore: whole }].map((mount) => [mount.petStore, toHandler(mount)]))
  return async (request, ...rest) => {
    // Bun's URL is a path alone where the Host is none.
    const path = new URL(request.url, 'http://localhost').pathname
    const own = await ownRoute(path)
    if (own !== undefined) return new Response(own)
    const mount = mountOf(path)
    if (mount === undefined) return new Response('not ours', { status: 404 })
    return handlers.get(mount.petStore)(request, ...rest)
  }
}
