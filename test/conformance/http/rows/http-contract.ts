import { contractClient } from '../../../../src/testing/http-contract/client.ts'
import { httpContractRows } from '../../../../src/testing/http-contract/rows.ts'
import type { Send } from '../client.ts'
import { keyOf } from '../expect.ts'
import type { Rows } from '../suite.ts'

/** The rows of the public suite, except those about limits, which have rows here. */
export const httpContract: Rows = Object.fromEntries(
  httpContractRows
    .filter(({ needsLimitedKey }) => !needsLimitedKey)
    .map(({ title, check }) => [title, ({ send }) => check(clientOf(send))]),
)

function clientOf(send: Send) {
  const token = keyOf('ample').authorization.replace('Bearer ', '')
  return contractClient({ baseUrl: 'http://localhost/v1', token, fetch: fetchThrough(send) })
}

/** Passes path and query of a URL to a client of this suite. */
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
