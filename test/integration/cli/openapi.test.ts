import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { openApiDocument } from '../../../src/openapi/index.ts'
import { runPetstore, startPetstore } from '../../support/petstore-command.ts'

describe('petstore openapi', () => {
  test('petstore openapi prints the document as JSON', async () => {
    const { code, stdout } = await runPetstore(['openapi'])
    expect([code, JSON.parse(stdout)]).toEqual([0, openApiDocument()])
  })

  test('petstore openapi --yaml prints the document as YAML without anchors', async () => {
    const { stdout } = await runPetstore(['openapi', '--yaml'])
    expect(parse(stdout)).toEqual(openApiDocument())
    expect(stdout).not.toMatch(/^[\s-]*(?:[\w-]+: )?[&*]\w/m)
  })

  test('petstore openapi prints the address and plans that its flags set', async () => {
    const flags = ['--server-url', 'https://a.test', '--base-path', '/x', '--plan-limits', 'gold=5/50']
    const options = { publicUrl: 'https://a.test', basePath: '/x', plans: { gold: { perMinute: 5, perDay: 50 } } }
    expect(JSON.parse((await runPetstore(['openapi', ...flags])).stdout)).toEqual(openApiDocument(options))
  })
})

test('/openapi.json of petstore serve shows the settings of its flags', async () => {
  const flags = [
    '--base-path',
    '/x',
    '--public-url',
    'https://a.test',
    '--plan-limits',
    'gold=5/50',
    '--body-limit',
    '999',
  ]
  const { address } = await startPetstore(...flags)
  const response = await fetch(new URL('/openapi.json', address))
  const plans = { gold: { perMinute: 5, perDay: 50 } }
  const options = { publicUrl: 'https://a.test', basePath: '/x', plans, bodyLimit: 999 }
  expect(await response.json()).toEqual(openApiDocument(options))
})

test('the bundle of the yaml package contains the licence of yaml', () => {
  const dist = join(import.meta.dirname, '../../../dist')
  const [name = '', ...others] = readdirSync(dist).filter((file) => /^yaml-.*\.js$/.test(file))
  expect(others).toEqual([])
  const licence = readFileSync(join(import.meta.dirname, '../../../node_modules/yaml/LICENSE'), 'utf8')
  const text = readFileSync(join(dist, name), 'utf8').replaceAll(/^ \* ?/gm, '')
  expect(text).toContain(licence.trim())
})
