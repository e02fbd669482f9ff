import { documentedOptionsOf, withDocumentedOptions } from '../../documented-options.ts'
import { buildRequest, FetchRequest, fetchThrough, type PetStoreFetch } from '../../http/fetch.ts'
import type { ApiRequest } from '../../http/request.ts'
import { type ApiResponse, toResponse } from '../../http/response.ts'
import type { PetStore } from '../../pet-store.ts'
import type { BackEnd, Clock } from '../../ports.ts'
import { adapterFunctionsOf, withAdapterFunctions } from '../../reports/adapter-functions.ts'
import { untilAborted } from '../../support/time.ts'
import type { Fault, FaultList } from './fault-list.ts'
import { portFaults } from './faults.ts'
import { createJournal } from './journal.ts'

/** The parts of a store from one reset to the next. */
interface Generation<Parts> {
  readonly number: number
  readonly faultList: FaultList
  readonly parts: Parts
}

/**
 * Creates a store with faults and a journal. `restart` calls `createParts` again, returns to the
 * initial faults, and removes all requests.
 */
export async function createRestartable<Parts extends { readonly petStore: PetStore }>(
  clock: Clock,
  createParts: (withFaults: (backEnd: BackEnd) => BackEnd, fetch: typeof globalThis.fetch) => Promise<Parts>,
  initialFaults: readonly Fault[] = [],
) {
  const { withFaults, affectConnection, startList, ...faults } = portFaults(initialFaults)
  const journal = createJournal(clock)
  const respond = journal.record(
    (request) => generation.parts.petStore.handle(request),
    () => generation.parts.petStore.basePath,
  )
  const handle = async (request: ApiRequest) => {
    const { faultList, parts } = generation
    return affectConnection(faultList, request, await respond(request), parts.petStore.basePath)
  }
  const fetch = fetchLike({ handle }) as typeof globalThis.fetch & PetStoreFetch
  let started = 0
  let generation = await startGeneration()

  async function startGeneration(): Promise<Generation<Parts>> {
    started += 1
    const number = started
    // Before the first `await`: a fault that is set while a reset is pending belongs to the time
    // after the reset.
    const faultList = startList()
    return { number, faultList, parts: await createParts((backEnd) => withFaults(faultList, backEnd), fetch) }
  }

  const { basePath } = generation.parts.petStore
  const adapterFunctions = forwarding(() => adapterFunctionsOf(generation.parts.petStore))
  const documented = () => documentedOptionsOf(generation.parts.petStore)
  return {
    fetch,
    petStore: withDocumentedOptions(
      withAdapterFunctions({ fetch: fetchThrough(handle), handle, basePath }, adapterFunctions),
      documented,
    ),
    ...faults,
    journal,
    current: () => generation.parts,
    async restart() {
      const next = await startGeneration()
      // A later reset may have been faster.
      if (next.number < generation.number) return
      generation = next
      journal.clear()
    },
  }
}

/**
 * Returns a function that behaves like the global `fetch`, but sends every request to a pet store.
 * As in a browser, a relative address belongs to the page, if there is one.
 */
function fetchLike({ handle }: Pick<PetStore, 'handle'>): typeof globalThis.fetch {
  return async (input, init) => {
    const { request, signal } = buildRequest(typeof input === 'string' ? resolve(input) : input, init)
    const handled = await untilAborted<ApiResponse>(signal, (resolve, reject) => {
      const sent = new FetchRequest(request, undefined, signal)
      handle(sent).then(resolve, (cause) => reject(new TypeError('fetch failed', { cause })))
      return undefined
    })
    // The global `fetch` sets `url` without the fragment; `new Response` leaves it empty.
    return Object.defineProperty(toResponse(handled), 'url', { value: request.url.split('#', 1)[0] })
  }
}

/**
 * Returns an address as a URL of the page, as jsdom and happy-dom have it. Without a page, or on
 * `about:blank`, returns it as it is.
 */
function resolve(address: string): string {
  try {
    return new URL(address, globalThis.location?.href).href
  } catch {
    return address
  }
}

/**
 * Returns an object whose functions call `current()` each time, because `reset` replaces the result
 * of `current()`.
 */
export function forwarding<T extends object>(current: () => T): T {
  const methods = () => current() as Record<string, (...parameters: unknown[]) => unknown>
  const names = Object.keys(current())
  return Object.fromEntries(
    names.map((name) => [name, (...parameters: unknown[]) => methods()[name]?.(...parameters)]),
  ) as T
}
