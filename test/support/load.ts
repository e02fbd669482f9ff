import type { PetStore } from '../../src/index.ts'

/** The response to one request under load. */
export interface LoadResult {
  readonly status: number
  readonly retryAfter: string | null
  readonly body: string
}

/** A running load: each client creates one animal after another until `stop` is called. */
export interface Load {
  readonly results: readonly LoadResult[]
  /** Resolves after `count` more responses with this status. */
  reach(status: number, count: number): Promise<void>
  /** Stops the clients and waits for their last responses. */
  stop(): Promise<void>
}

/** Starts clients that create animals in a pet store of this process. */
export function startLoad(petStore: PetStore, token: string, clients = 8): Load {
  const results: LoadResult[] = []
  const waiting = new Set<() => void>()
  let isOver = false
  const client = async () => {
    while (!isOver) {
      results.push(await addAnimal(petStore, token))
      for (const check of waiting) check()
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  const ended = Promise.all(Array.from({ length: clients }, client))
  return {
    results,
    reach(status, count) {
      const goal = tally(results, status) + count
      return new Promise((resolve) => {
        const check = () => {
          if (tally(results, status) < goal) return
          waiting.delete(check)
          resolve()
        }
        waiting.add(check)
      })
    },
    async stop() {
      isOver = true
      await ended
    },
  }
}

function tally(results: readonly LoadResult[], status: number): number {
  return results.filter((result) => result.status === status).length
}

/** Sends one request that creates an animal. */
export async function addAnimal(petStore: PetStore, token: string): Promise<LoadResult> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const init = { method: 'POST', headers, body: '{"name":"Rex","categoryId":9223372036854775807}' }
  const response = await petStore.fetch(new Request('http://localhost/v1/pets', init))
  return { status: response.status, retryAfter: response.headers.get('retry-after'), body: await response.text() }
}

/** Returns the ids of the animals for which a client has received a 201. */
export function createdIds(results: readonly LoadResult[]): string[] {
  return results.filter(({ status }) => status === 201).map(({ body }) => /"id":(\d+)/.exec(body)?.[1] as string)
}
