import { createServer } from 'node:http'
import { describe, expect, onTestFinished, test } from 'vitest'
import { serve } from '../../../adapters/hosts/node/index.ts'
import { createTestPetStore } from '../../../src/testing/index.ts'
import { hostProgram, portOf, startProgram } from '../../conformance/start-host.ts'
import { runPetstore } from '../../support/petstore-command.ts'
import { freePort } from '../../support/server-process.ts'

const runCheck = (args: readonly string[], env = {}) => runPetstore(['check', ...args], env)

/** The host programs accept any token of the form `<plan>-<text>`. */
const KEYS = ['--key', 'ample-check', '--limited-key', 'tiny-check', '--read-only-key', 'reader-check']

test('petstore check passes every rule against a host program', async () => {
  const { value: port, stop } = await startProgram([process.execPath, hostProgram('node.mjs')], portOf)
  onTestFinished(stop)
  const { code, stdout, stderr } = await runCheck([`http://127.0.0.1:${port}/v1`, ...KEYS])
  expect({ code, stderr, failed: stdout.match(/^ {2}(?:FAIL|skip).*/gm) }).toEqual({
    code: 0,
    stderr: '',
    failed: null,
  })
  expect(stdout).toMatch(/^\d+ pass, 0 fail, 0 skipped\.\nThe server behaves as petstore-kit does\.$/m)
})

/** Starts a store on a free port. */
async function startStore() {
  const { petStore, token } = await createTestPetStore({ plan: 'pro', pets: [{ name: 'Ada' }] })
  const { url, close } = await serve(petStore, { port: 0, closeTimeout: 1 })
  onTestFinished(close)
  return { url: `${url}/v1`, token }
}

/** Starts a server that responds as a store does, except for createPet, which responds 200. */
async function startFaultyServer() {
  const { url, token } = await startStore()
  const faulty = createServer(async (request, response) => {
    const { method = '', headers } = request
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { host, connection, 'content-length': length, 'transfer-encoding': coding, ...sent } = headers
    const body = chunks.length === 0 ? null : Buffer.concat(chunks)
    const path = request.url?.replace('/v1', '')
    const received = await fetch(url + path, { method, headers: sent as Record<string, string>, body })
    const text = await received.text()
    const { 'transfer-encoding': _, ...kept } = Object.fromEntries(received.headers)
    response.writeHead(received.status === 201 ? 200 : received.status, kept).end(text)
  })
  faulty.listen(0, '127.0.0.1')
  const port = await new Promise<number>((resolve) =>
    faulty.on('listening', () => resolve((faulty.address() as { port: number }).port)),
  )
  onTestFinished(() => void faulty.close().closeAllConnections())
  return { url: `http://127.0.0.1:${port}/v1`, token }
}

describe('petstore check', () => {
  test('petstore check exits with 1 if a rule fails', async () => {
    const { url, token } = await startFaultyServer()
    const { code, stdout } = await runCheck([url, '--key', token])
    expect(code).toBe(1)
    expect(stdout).toMatch(
      /^ {2}FAIL {2}adds an animal, and responds with 201 and its id: POST \/pets: expected status 201, got 200/,
    )
    expect(stdout).toMatch(/^ {2}pass {2}rejects every operation without a key with 401$/m)
    expect(stdout).toMatch(/^ {2}skip {2}.* 429 and Retry-After: needs --limited-key/m)
    expect(stdout).toMatch(/^The server does not behave as petstore-kit does\.$/m)
  })

  test('petstore check --json reads the key from an environment variable', async () => {
    const { url, token } = await startStore()
    const { code, stdout } = await runCheck([`${url}/`, '--json'], { PETSTORE_CHECK_KEY: token })
    const report = JSON.parse(stdout)
    expect({ code, ...report }).toMatchObject({ code: 0, url, fail: 0, skip: 3, notRun: 0 })
    expect(report.rules[0]).toEqual({ title: 'adds an animal, and responds with 201 and its id', result: 'pass' })
    expect(stdout).not.toContain(token)
  })

  test.each([
    ['no key', ['http://127.0.0.1:1/v1'], /required option '--key <token>' not specified/],
    ['no URL', ['--key', 'x'], /missing required argument 'url'/],
    ['a wrong URL', ['localhost:3000', '--key', 'x'], /Expected an address such as http:\/\/127\.0\.0\.1:3000\/v1/],
    [
      'a wrong time-out',
      ['http://a/v1', '--key', 'x', '--timeout', '0'],
      /--timeout.*Expected a whole number from 1 to 600/,
    ],
    ['an unknown flag', ['http://a/v1', '--key', 'x', '--jso'], /unknown option '--jso' \(Did you mean --json\?\)/],
  ])('petstore check exits with 2 for %s', async (_, args, message) => {
    const { code, stdout, stderr } = await runCheck(args)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(message)
    expect(stderr.trim().split('\n')).toHaveLength(1)
  })

  test('petstore check exits with 2 if no server responds', async () => {
    const port = await freePort()
    const away = await runCheck([`http://127.0.0.1:${port}/v1`, '--key', 'x'])
    const refused = `petstore: cannot use the server: GET /pets?limit=1: connect ECONNREFUSED 127.0.0.1:${port}\n`
    expect(away).toEqual({ code: 2, stdout: '', stderr: refused })
    const { url } = await startStore()
    const { code, stderr } = await runCheck([url, '--key', 'x'])
    expect([code, stderr]).toEqual([2, 'petstore: --key: the server rejects this key (401, invalid_api_key)\n'])
  })
})
