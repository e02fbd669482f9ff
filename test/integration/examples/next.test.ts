import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { startProgram } from '../../conformance/start-host.ts'
import { onDemand } from '../../support/on-demand.ts'
import { missing } from '../../support/skips.ts'

const root = join(import.meta.dirname, '../../..')
const env = { NEXT_TELEMETRY_DISABLED: '1', PETSTORE_KEY: 'a-key-of-the-shop' }
const folder = await onDemand('next@16.4.6', 'react@19.3.1', 'react-dom@19.3.1')

/** Creates a Next project with the example's route and the built package, in a folder where `next` can be imported. */
async function makeProject(beside: string): Promise<string> {
  const project = await mkdtemp(join(beside, 'project-'))
  onTestFinished(() => rm(project, { recursive: true }))
  const kit = join(project, 'node_modules/petstore-kit')
  await cp(join(root, 'examples/next'), project, { recursive: true })
  await cp(join(root, 'dist'), join(kit, 'dist'), { recursive: true })
  await cp(join(root, 'package.json'), join(kit, 'package.json'))
  await writeFile(join(project, 'package.json'), '{"private":true,"type":"module"}')
  return project
}

test.skipIf(missing('Next', folder !== undefined))(
  'next: the example route serves the pet store',
  { timeout: 90_000 },
  async () => {
    const cwd = await makeProject(folder ?? '')
    const next = join(folder ?? '', 'node_modules/next/dist/bin/next')
    await promisify(execFile)(process.execPath, [next, 'build'], { cwd, env: { ...process.env, ...env } })
    const command = [process.execPath, next, 'start', '--port', '0', '--hostname', '127.0.0.1']
    const { value: origin, stop } = await startProgram(command, (line) => /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0], {
      cwd,
      env,
    })
    onTestFinished(stop)
    const ask = (path: string, init: RequestInit = {}) =>
      fetch(origin + path, {
        ...init,
        headers: { authorization: `Bearer ${env.PETSTORE_KEY}`, 'content-type': 'application/json' },
      })
    for (let i = 0; i < 2; i++) {
      const added = await ask('/v1/pets', { method: 'POST', body: '{"name":"Rex","categoryId":9007199254740993}' })
      expect(added.status).toBe(201)
    }
    const page = await ask('/v1/pets?limit=1')
    assert.match(await page.text(), /^\[{"id":1,"name":"Rex","categoryId":9007199254740993,/)
    assert.match(page.headers.get('link') ?? '', /^<\/v1\/pets\?limit=1&cursor=/)
    expect((await ask('/v1/dogs')).status).toBe(404)
    expect((await ask('/v1/pets', { method: 'DELETE' })).status).toBe(405)
    expect((await fetch(`${origin}/v1/pets`)).status).toBe(401)
    const left = async (forwardedFor: string) => {
      const { headers } = await fetch(`${origin}/v1/pets`, { headers: { 'x-forwarded-for': forwardedFor } })
      return Number(headers.get('x-ratelimit-remaining'))
    }
    expect([await left('9.9.9.9, 203.0.113.7'), await left('8.8.8.8, 203.0.113.7')]).toEqual([59, 58])
    expect(await left('203.0.113.8')).toBe(59)
  },
)
