import { createPetStore, type MemoryOptions, memory, type PetStoreOptions } from '../../src/index.ts'
import { type ManualClock, manualClock } from '../../src/testing/index.ts'

/** The parts of a request that a test can set. */
export interface Sent {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** The token to send, or `null` for none. @default the token of the first key */
  readonly token?: string | null
  readonly address?: string
}

/** A response with its parsed JSON body. */
export interface Got {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly json: unknown
  readonly code: string | undefined
  readonly message: string
}

/** Creates a store in memory with one key. Returns the store, and functions that send requests to it. */
export async function startApi(
  options: PetStoreOptions & { readonly memory?: MemoryOptions; readonly plan?: string } = {},
) {
  const { memory: memoryOptions, plan = 'free', ...rest } = options
  const clock = (options.clock as ManualClock | undefined) ?? manualClock()
  const backEnd = memory({ clock, ...memoryOptions })
  const { token, key } = await backEnd.keyStore.issue({ plan })
  const petStore = createPetStore({ ...backEnd, ...rest, clock })

  async function send(target: string, sent: Sent = {}): Promise<Got> {
    const bytes = typeof sent.body === 'string' ? new TextEncoder().encode(sent.body) : (sent.body ?? new Uint8Array())
    const headers = new Map(Object.entries(sent.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]))
    if (sent.token !== null && !headers.has('authorization'))
      headers.set('authorization', `Bearer ${sent.token ?? token}`)
    if (sent.body !== undefined && !headers.has('content-type')) headers.set('content-type', 'application/json')
    const response = await petStore.handle({
      method: sent.method ?? (sent.body === undefined ? 'GET' : 'POST'),
      target,
      clientAddress: sent.address,
      header: (name) => headers.get(name),
      body: async () => bytes,
    })
    return read(response.status, response.headers, response.body)
  }
  const add = (body: string, sent: Sent = {}) => send('/v1/pets', { body, ...sent })
  return { ...backEnd, petStore, clock, token, key, send, add }
}

function read(status: number, list: readonly string[], text: string): Got {
  const headers = new Headers()
  for (let i = 0; i < list.length; i += 2) headers.append(list[i] as string, list[i + 1] as string)
  const json = text === '' ? undefined : JSON.parse(text)
  const { code, message = '' } = (json ?? {}) as { code?: string; message?: string }
  return { status, headers, text, json, code, message }
}

/** Reads the rate-limit headers of a response. */
export function rateLimit({ headers }: Got): { limit: number; remaining: number; reset: number } {
  const number = (name: string) => Number(headers.get(`x-ratelimit-${name}`) ?? Number.NaN)
  return { limit: number('limit'), remaining: number('remaining'), reset: number('reset') }
}
