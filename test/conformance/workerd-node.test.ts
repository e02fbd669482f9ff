import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { runtimeBinary } from '../support/runtimes.ts'
import { missing } from '../support/skips.ts'
import { bundleWorker, workerdArgs } from './bundle-worker.ts'
import { hostProgram, portOf, startProgram } from './start-host.ts'

const binary = await runtimeBinary('workerd')

test.skipIf(missing('workerd', binary !== undefined))("workerd's own node:http serves the door on Node", async () => {
  const folder = await bundleWorker(hostProgram('worker-node.mjs'), 'worker-node.capnp')
  onTestFinished(() => rm(folder, { recursive: true }))
  const host = await startProgram([binary ?? '', ...workerdArgs, join(folder, 'worker.capnp')], portOf)
  onTestFinished(() => host.stop())
  const ask = async (init: RequestInit, token = 'letmein') => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const response = await fetch(`http://127.0.0.1:${host.told}/v1/pets`, { ...init, headers })
    expect(response.headers.get('x-ratelimit-limit')).toBe('60')
    return [response.status, await response.text()]
  }
  const upload = new Response(new Uint8Array(100_000)).body
  const animal = '{"id":1,"name":"Rex","categoryId":1,"status":"available"}'
  expect(await ask({})).toEqual([200, '[]'])
  expect(await ask({}, 'letmeout')).toEqual([401, expect.stringContaining('invalid_api_key')])
  expect(await ask({ method: 'POST', body: '{"name":"Rex","categoryId":1}' })).toEqual([201, animal])
  // A refused upload is read on for a while, by a timer, which may be a number there.
  const refused = { method: 'POST', body: upload, duplex: 'half' } as RequestInit
  expect(await ask(refused)).toEqual([413, expect.stringContaining('payload_too_large')])
  expect(await ask({})).toEqual([200, `[${animal}]`])
})
