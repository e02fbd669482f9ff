import assert from 'node:assert/strict'
import type { Received, Send } from './client.ts'

/** The time that the stores' clocks show in the host programs, 30 seconds before the end of a minute. */
export const NOW = Date.UTC(2027, 0, 15, 12, 0, 30)

let keys = 0

/** Returns the Authorization header of a key that no other test uses. */
export function keyOf(plan: 'ample' | 'reader' | 'tiny'): { readonly authorization: string } {
  keys += 1
  return { authorization: `Bearer ${plan}-${process.pid}.${keys}` }
}

/** Creates an animal, by default with a valid body. */
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

/** Sends GET with a key. */
export function get(send: Send, target: string, headers: Readonly<Record<string, string>> = {}): Promise<Received> {
  return send(target, { headers: { ...keyOf('ample'), ...headers } })
}

/** Checks the status and the headers that every response has. No header may occur twice. */
export function expectOurs(received: Received, status: number): void {
  assert.equal(received.status, status, received.body)
  for (const name of ['limit', 'remaining', 'reset'])
    assert.match(received.headers[`x-ratelimit-${name}`] ?? 'none', /^\d+$/, `x-ratelimit-${name}`)
  assert.equal(received.headers['x-content-type-options'], 'nosniff')
  assert.deepEqual(received.doubled, [])
}

/** Checks a response with JSON and returns its value. */
export function expectJson(received: Received, status: number): unknown {
  expectOurs(received, status)
  assert.equal(received.headers['content-type'], 'application/json')
  assert.equal(received.headers['cache-control'], 'no-store')
  return JSON.parse(received.body)
}

/** Checks an error response, which has exactly three members, and returns its message. */
export function expectError(received: Received, status: number, code: string): string {
  const { message, ...rest } = expectJson(received, status) as { message: string }
  assert.deepEqual(rest, { code, status })
  assert.ok(message.length > 0)
  return message
}

/** Returns the events that the host program has recorded. */
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

/** Repeats a check until it is true, for at most `looks` times. */
export async function eventually(isTrue: () => Promise<boolean>, failure: string, looks = Infinity): Promise<void> {
  for (let look = 1; !(await isTrue()); look++) assert.ok(look < looks, failure)
}
