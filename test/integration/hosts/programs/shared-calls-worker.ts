/** A Worker whose first request to a path ends before its look-up. A later request to the same path has to do without it. */
import { cachedKeyStore, createPetStore, type KeyStore } from '../../../../src/index.ts'

let now = 0
const clock = { now: () => now }

/** Returns a key store whose first look-up takes longer than its request. */
function slowAtFirst(): KeyStore {
  let calls = 0
  return {
    async find() {
      calls += 1
      if (calls === 1) await new Promise((resolve) => setTimeout(resolve, 60_000))
      return { id: 'front-desk', plan: 'free' }
    },
  }
}

const forgotten = cachedKeyStore(slowAtFirst(), { clock })
const aged = cachedKeyStore(slowAtFirst(), { clock })
const petStore = createPetStore({ keyStore: slowAtFirst(), clock: { ...clock, monotonic: clock.now } })
const calls: Record<string, (isLater: boolean) => unknown> = {
  '/forget': async (isLater) => {
    if (isLater) forgotten.forget('letmein')
    return forgotten.find('letmein')
  },
  '/find': () => aged.find('letmein'),
  '/ready': () => petStore.ready(),
}

export default {
  async fetch(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url)
    const isLater = searchParams.has('later')
    if (isLater) now += 10_000
    const result = (async () => calls[pathname]?.(isLater))()
    // The first request responds, and so ends, before its look-up has a result.
    return Response.json(isLater ? await result : null)
  },
}
