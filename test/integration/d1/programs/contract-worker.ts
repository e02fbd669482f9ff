import * as fc from 'fast-check'
import type { D1Database } from '../../../../adapters/back-ends/sqlite/d1/index.ts'
import { d1Contracts } from '../contracts.ts'

/** A Worker. The body of each request is the title of a test. The Worker runs this test and responds with its error, if any. */

const tests = new Map<string, () => Promise<void>>()
let group = ''
let database: D1Database

const runner = {
  fc,
  describe(name: string, define: () => void) {
    group = name
    define()
  },
  test(name: string, body: () => Promise<void>) {
    tests.set(`${group} > ${name}`, body)
  },
}

d1Contracts(runner, 'D1', () => database)

export default {
  async fetch(request: Request, env: { readonly DB: D1Database }): Promise<Response> {
    database = env.DB
    const title = await request.text()
    const body = tests.get(title)
    if (body === undefined) return new Response(`there is no test "${title}"`)
    return body().then(
      () => new Response(''),
      (error: Error) => new Response(`${error.message}\n${error.stack}\n${error.cause ?? ''}`),
    )
  },
}
