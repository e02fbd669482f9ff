import { contractClient } from '../../../../src/testing/http-contract/client.ts'
import { httpContractRows } from '../../../../src/testing/http-contract/suite.ts'
import type { Send } from '../client.ts'
import { keyOf } from '../expect.ts'
import type { Rows } from '../suite.ts'

/** The rows of the public HTTP contract. Rows that need a limited key are left out: `limits.ts` has rows for them. */
export const httpContract: Rows = Object.fromEntries(
  httpContractRows
    .filter(({ needsLimitedKey }) => !needsLimitedKey)
    .map(({ title, check }) => [title, ({ send }) => check(clientOf(send))]),
)

function clientOf(send: Send) {
  const token = keyOf('ample').authorization.replace('Bearer ', '')
  return contractClient({ baseUrl: 'http://localhost/v1', token, fetch: fetchThrough(send) })
}

/** Returns a fetch function that sends the path and query of a URL with `send`. */
function fetchThrough(send: Send) {
  return async (url: string, { method = 'GET', headers, body }: RequestInit) => {
    const { pathname, search } = new URL(url)
    const received = await send(pathname + search, {
      method,
      headers: Object.fromEntries(new Headers(headers)),
      ...((typeof body === 'string' || body instanceof Uint8Array) && { body }),
    })
    return new Response(received.body || null, { status: received.status, headers: received.headers })
  }
}
