import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { rawConnection } from '../../support/raw-http.ts'
import { runPetstore, startPetstore } from '../../support/serve-command.ts'

describe('what petstore serve does', () => {
  test('adds as many demo animals as are asked for, none included', async () => {
    for (const [seed, first] of [
      ['0', undefined],
      ['3', 1],
    ] as const) {
      const { address, bearer } = await startPetstore('--seed', seed)
      const pets = (await (await fetch(`${address}/pets`, bearer('free'))).json()) as { id: number }[]
      expect([pets.length, pets[0]?.id]).toEqual([Number(seed), first])
    }
  })

  test('prints a key for each plan, each with the limits of its plan', async () => {
    const { address, keys, bearer } = await startPetstore()
    expect(Object.keys(keys)).toEqual(['free', 'pro', 'business', 'enterprise'])
    const limits = Object.keys(keys).map(async (plan) =>
      (await fetch(`${address}/pets`, bearer(plan))).headers.get('x-ratelimit-limit'),
    )
    expect(await Promise.all(limits)).toEqual(['60', '300', '1000', '10000'])
  })

  test('takes limits of plans, repeated and joined by commas, new plans included', async () => {
    const flags = ['--plan-limits', 'free=2/50,pro=3/50', '--plan-limits', 'gold=4/50,enterprise=5/50']
    const { address, bearer } = await startPetstore(...flags)
    const limitOf = async (plan: string) =>
      (await fetch(`${address}/pets`, bearer(plan))).headers.get('x-ratelimit-limit')
    const limits = await Promise.all(['free', 'pro', 'gold', 'enterprise', 'business'].map(limitOf))
    expect(limits).toEqual(['2', '3', '4', '5', '1000'])
  })

  test('listens where --host says, under --base-path', async () => {
    const { address, bearer } = await startPetstore('--host', '127.0.0.2', '--base-path', "/it's/v2/")
    expect(address).toMatch(/^http:\/\/127\.0\.0\.2:\d+\/it's\/v2$/)
    expect((await fetch(`${address}/pets`, bearer('free'))).status).toBe(200)
  })

  test('--log prints a line for each request, and no token', async () => {
    const { address, keys, bearer, line, output } = await startPetstore('--log')
    await fetch(`${address}/pets?limit=1`, bearer('free'))
    expect(await line(/ 200 GET /)).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z 200 GET \/v1\/pets\?limit=1 key_\w+ \d+ ms$/)
    await fetch(`${address}/pets`)
    expect(await line(/ 401 GET /)).toContain('no key')
    const log = output().split('Ctrl-C ends it.\n')[1] as string
    for (const token of Object.values(keys)) expect(log).not.toContain(token)
  })

  test('without --log it is silent', async () => {
    const { address, bearer, output } = await startPetstore()
    const before = output()
    await fetch(`${address}/pets`, bearer('free'))
    expect(output()).toBe(before)
  })
})

describe('what cannot be done is one line, and exit code 1', () => {
  test.each([
    [['serve', '--port', 'x'], /--port.*whole number/],
    [['serve', '--port', '70000'], /--port.*65535/],
    [['serve', '--port', '-1'], /--port/],
    [['serve', '--prot', '1'], /unknown option '--prot' \(Did you mean --port\?\)/],
    [['serve', '--host', ''], /--host/],
    [['serve', '--host', '192.0.2.1', '--port', '0'], /--host.*no such address/],
    [['serve', '--seed', '1.5'], /--seed.*whole number/],
    [['serve', '--seed', '99999999999'], /--seed/],
    [['serve', '--plan-limits', 'free=1'], /--plan-limits.*free=10\/100/],
    [['serve', '--plan-limits', 'free=0/1'], /--plan-limits/],
    [['serve', '--plan-limits', 'a=1/1,,'], /--plan-limits/],
    [['serve', '--plan-limits'], /--plan-limits/],
    [['serve', '--base-path', 'v1'], /--base-path/],
    [['serve', '--base-path', '/a?b'], /--base-path/],
    [['serve', 'more'], /too many arguments/],
    [['sevre'], /unknown command 'sevre' \(Did you mean serve\?\)/],
    [['--nonsense'], /unknown option/],
    [['serve', '--port', 'x\ny\nz'], /--port/],
  ])('%j', async (args, line) => {
    const { code, stdout, stderr } = await runPetstore(...args)
    expect(code).toBe(1)
    expect(stdout).toBe('')
    expect(stderr).toMatch(/^petstore: .+\n$/)
    expect(stderr).toMatch(line)
  })

  test('a port that is taken', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    onTestFinished(() => void taken.close())
    const { port } = taken.address() as AddressInfo
    const { code, stdout, stderr } = await runPetstore('serve', '--port', String(port))
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toBe(
      `petstore: port ${port} on 127.0.0.1 is taken: choose another with --port, or 0 for any that is free\n`,
    )
  })
})

describe('asking about the command', () => {
  test.each([[['--help']], [['serve', '--help']], [['help', 'serve']], [['--version']]])(
    '%j ends with 0',
    async (args) => {
      const { code, stdout, stderr } = await runPetstore(...args)
      expect([code, stderr]).toEqual([0, ''])
      expect(stdout).toMatch(args[0] === '--version' ? /^\d+\.\d+\.\d+\n$/ : /Usage: petstore/)
    },
  )
})

describe('a signal ends it cleanly', () => {
  test('two signals of different kinds end it without a stack', async () => {
    const { address, keys, child, exited, line } = await startPetstore()
    // A body that does not end keeps the first from ending it.
    const running = await rawConnection(address)
    const head = ['POST /v1/pets HTTP/1.1', 'Host: a', 'Content-Type: application/json', 'Content-Length: 50']
    await running.send(`${head.join('\r\n')}\r\nAuthorization: Bearer ${keys.free}\r\nExpect: 100-continue\r\n\r\n`)
    expect((await running.answer()).status).toBe(100)
    child.kill('SIGINT')
    await line(/^Closing\.$/)
    child.kill('SIGTERM')
    expect(await exited()).toEqual({ code: 1, stderr: '' })
  })

  test('whoever reads its log may leave before', async () => {
    const { child, address, exited } = await startPetstore('--log')
    child.stdout.destroy()
    for (let i = 0; i < 3; i++) expect((await fetch(`${address}/pets`)).status).toBe(401)
    child.kill('SIGTERM')
    expect(await exited()).toEqual({ code: 0, stderr: '' })
  })

  test.each(['SIGINT', 'SIGTERM'] as const)('%s, with connections open', async (signal) => {
    const { address, keys, child, exited } = await startPetstore()
    const [kept, silent] = [await rawConnection(address), await rawConnection(address)]
    await kept.send(`GET /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${keys.free}\r\n\r\n`)
    expect((await kept.answer()).status).toBe(200)
    child.kill(signal)
    expect(await exited()).toEqual({ code: 0, stderr: '' })
    await Promise.all([kept.closed(), silent.closed()])
  })
})
