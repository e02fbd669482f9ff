import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import Libsql from 'libsql'

/** A value as Hrana writes it in JSON. Integers are strings. */
interface Value {
  readonly type: 'null' | 'integer' | 'float' | 'text'
  readonly value?: string | number
}

/** A statement: either its SQL text, or the id of an SQL text that the client has stored in the same pipeline. */
interface Statement {
  readonly sql?: string | null
  readonly sql_id?: number | null
  readonly args?: readonly Value[]
}

type Condition =
  | { readonly type: 'ok' | 'error'; readonly step: number }
  | { readonly type: 'not'; readonly cond: Condition }
  | { readonly type: 'and' | 'or'; readonly conds: readonly Condition[] }
  | { readonly type: 'is_autocommit' }

interface Step {
  readonly stmt: Statement
  readonly condition?: Condition | null
}

type Request =
  | { readonly type: 'execute'; readonly stmt: Statement }
  | { readonly type: 'batch'; readonly batch: { readonly steps: readonly Step[] } }
  | { readonly type: 'store_sql'; readonly sql_id: number; readonly sql: string }
  | { readonly type: 'close' | 'close_sql' | 'get_autocommit' }

/** A server of Hrana over HTTP, the protocol of libSQL. */
export interface HranaServer {
  readonly url: string
  /** The number of HTTP requests with statements so far. */
  requests(): number
  /** From now on, the server responds with 502 to every request, as a failing gateway does. */
  fail(): void
  close(): Promise<void>
}

/**
 * Serves a libSQL database in memory over HTTP, in version 2 of the protocol and in JSON:
 * https://github.com/tursodatabase/libsql/blob/main/docs/HTTP_V2_SPEC.md. It keeps no stream open between two requests.
 */
export async function startHranaServer(authToken: string): Promise<HranaServer> {
  const database = new Libsql(':memory:')
  let count = 0
  let isFailing = false
  const server = createServer(async (request, response) => {
    const isAuthorized = request.headers.authorization === `Bearer ${authToken}`
    if (isFailing || !isAuthorized || request.url !== '/v2/pipeline' || request.method !== 'POST') {
      response.writeHead(isFailing ? 502 : isAuthorized ? 404 : 401).end()
      return
    }
    count += 1
    const { requests } = JSON.parse(await textOf(request)) as { requests: readonly Request[] }
    const stream = { database, texts: new Map<number, string>() }
    const results = requests.map((one) => handle(stream, one))
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ baton: null, base_url: null, results }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: () => count,
    fail() {
      isFailing = true
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
      database.close()
    },
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

/** A database connection, which is used for one pipeline request. */
interface Stream {
  readonly database: Libsql.Database
  readonly texts: Map<number, string>
}

function handle(stream: Stream, request: Request): object {
  switch (request.type) {
    case 'store_sql':
      stream.texts.set(request.sql_id, request.sql)
      return ok({ type: 'store_sql' })
    case 'close':
    case 'close_sql':
      return ok({ type: request.type })
    case 'get_autocommit':
      return ok({ type: 'get_autocommit', is_autocommit: !stream.database.inTransaction })
    case 'execute':
      try {
        return ok({ type: 'execute', result: run(stream, request.stmt) })
      } catch (error) {
        return { type: 'error', error: faultOf(error) }
      }
    case 'batch':
      return ok({ type: 'batch', result: runBatch(stream, request.batch.steps) })
    default:
      return { type: 'error', error: { message: `unknown request ${JSON.stringify(request)}`, code: 'PROTO' } }
  }
}

function ok(response: object): object {
  return { type: 'ok', response }
}

function runBatch(stream: Stream, steps: readonly Step[]): object {
  const step_results: (object | null)[] = []
  const step_errors: (object | null)[] = []
  const holds = (condition: Condition): boolean => {
    switch (condition.type) {
      case 'ok':
        return step_results[condition.step] != null
      case 'error':
        return step_errors[condition.step] != null
      case 'not':
        return !holds(condition.cond)
      case 'and':
        return condition.conds.every(holds)
      case 'or':
        return condition.conds.some(holds)
      case 'is_autocommit':
        return !stream.database.inTransaction
    }
  }
  for (const { stmt, condition } of steps) {
    let result: object | null = null
    let error: object | null = null
    if (!condition || holds(condition)) {
      try {
        result = run(stream, stmt)
      } catch (cause) {
        error = faultOf(cause)
      }
    }
    step_results.push(result)
    step_errors.push(error)
  }
  return { step_results, step_errors }
}

function run({ database, texts }: Stream, { sql, sql_id, args = [] }: Statement): object {
  const statement = database.prepare(sql ?? texts.get(sql_id ?? -1) ?? '')
  const values = args.map(fromValue)
  if (!statement.reader) {
    const { changes } = statement.run(values)
    return { cols: [], rows: [], affected_row_count: changes, last_insert_rowid: null }
  }
  const rows = statement.safeIntegers(true).raw(true).all(values) as unknown[][]
  const cols = statement.columns().map(({ name }) => ({ name, decltype: null }))
  return { cols, rows: rows.map((row) => row.map(toValue)), affected_row_count: 0, last_insert_rowid: null }
}

function fromValue({ type, value }: Value): bigint | number | string | null {
  if (type === 'integer') return BigInt(value ?? 0)
  return type === 'null' ? null : (value ?? null)
}

function toValue(value: unknown): Value {
  if (typeof value === 'bigint') return { type: 'integer', value: String(value) }
  if (typeof value === 'number') return { type: 'float', value }
  return typeof value === 'string' ? { type: 'text', value } : { type: 'null' }
}

function faultOf(error: unknown): object {
  const { message, code = 'SQLITE_ERROR' } = error as { message: string; code?: string }
  return { message, code }
}
