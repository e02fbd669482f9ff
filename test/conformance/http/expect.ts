import assert from 'node:assert/strict'
import type { Received, Send } from './client.ts'

/** The clock of the host programs' stores: half a minute is left of its minute. */
export const NOW = Date.UTC(2027, 0, 15, 12, 0, 30)

let keys = 0

/** The header of a key of a plan that no other row spends. */
export function keyOf(plan: 'ample' | 'tiny'): { readonly authorization: string } {
  keys += 1
  return { authorization: `Bearer ${plan}-${process.pid}.${keys}` }
}

/** Adds an animal, by default a good one. */
export function post(
  send: Send,
  target: string,
  body: string | Uint8Array = '{"name":"Rex","categoryId":1}',
  headers: Readonly<Record<string, string>> = {},
  chunked = false,
): Promise<Received> {
  const all = { 'content-type': 'application/json', ...keyOf('ample'), ...headers }
  return send(target, { method: 'POST', headers: all, body, chunked })
}

/** Asks with a key. */
export function get(send: Send, target: string, headers: Readonly<Record<string, string>> = {}): Promise<Received> {
  return send(target, { headers: { ...keyOf('ample'), ...headers } })
}

/** Checks the headers of every response of the store; no header may occur twice. */
export function expectOurs(received: Received, status: number): void {
  assert.equal(received.status, status, received.body)
  for (const name of ['limit', 'remaining', 'reset'])
    assert.match(received.headers[`x-ratelimit-${name}`] ?? 'none', /^\d+$/, `x-ratelimit-${name}`)
  assert.equal(received.headers['x-content-type-options'], 'nosniff')
  assert.deepEqual(received.doubled, [])
}

/** An answer with an animal or animals. */
export function expectJson(received: Received, status: number): unknown {
  expectOurs(received, status)
  assert.equal(received.headers['content-type'], 'application/json')
  assert.equal(received.headers['cache-control'], 'no-store')
  return JSON.parse(received.body)
}

/** An error of the contract: its three members and no more. */
export function expectError(received: Received, status: number, code: string): string {
  const { message, ...rest } = expectJson(received, status) as { message: string }
  assert.deepEqual(rest, { code, status })
  assert.ok(message.length > 0)
  return message
}

/** What the stores of the host program noticed. */
export async function probe(send: Send): Promise<{
  readonly addresses: Readonly<Record<string, string | null>>
  readonly started: number
  readonly aborted: number
  readonly falselyAborted: number
  readonly faults: readonly string[]
  readonly passed: number
}> {
  return JSON.parse((await send('/probe')).body)
}

/** Asks until it is so. */
export async function eventually(isSo: () => Promise<boolean>, what: string): Promise<void> {
  const deadline = AbortSignal.timeout(5_000)
  while (!(await isSo())) assert.ok(!deadline.aborted, what)
}
