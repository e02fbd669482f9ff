import type { PetStore } from '../../src/index.ts'

/** One answer under load. */
export interface Answer {
  readonly status: number
  readonly retryAfter: string | null
  readonly body: string
}

/** Clients that add animals one after another, until they are told to stop. */
export interface Load {
  readonly answers: readonly Answer[]
  /** Resolves when so many more answers of that status have come. */
  reach(status: number, count: number): Promise<void>
  /** Lets the last requests end. */
  stop(): Promise<void>
}

/** Starts a load on a pet store in this process. */
export function startLoad(petStore: PetStore, token: string, clients = 8): Load {
  const answers: Answer[] = []
  const waiting = new Set<() => void>()
  let isOver = false
  const client = async () => {
    while (!isOver) {
      answers.push(await addAnimal(petStore, token))
      for (const check of waiting) check()
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  const ended = Promise.all(Array.from({ length: clients }, client))
  return {
    answers,
    reach(status, count) {
      const goal = tally(answers, status) + count
      return new Promise((resolve) => {
        const check = () => {
          if (tally(answers, status) < goal) return
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

function tally(answers: readonly Answer[], status: number): number {
  return answers.filter((answer) => answer.status === status).length
}

/** Sends one request that adds an animal. */
export async function addAnimal(petStore: PetStore, token: string): Promise<Answer> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const init = { method: 'POST', headers, body: '{"name":"Rex","categoryId":9223372036854775807}' }
  const response = await petStore.fetch(new Request('http://localhost/v1/pets', init))
  return { status: response.status, retryAfter: response.headers.get('retry-after'), body: await response.text() }
}

/** The ids that clients were told of. */
export function toldIds(answers: readonly Answer[]): string[] {
  return answers.filter(({ status }) => status === 201).map(({ body }) => /"id":(\d+)/.exec(body)?.[1] as string)
}
