import { describe, expect, test } from 'vitest'
import { createPetStore } from '../../../src/index.ts'
import { openApiDocument } from '../../../src/openapi/index.ts'
import { runPetstore, startPetstore } from '../../support/petstore-command.ts'

describe('petstore openapi', () => {
  test('petstore openapi prints the document as JSON', async () => {
    const { code, stdout } = await runPetstore(['openapi'])
    expect([code, JSON.parse(stdout)]).toEqual([0, openApiDocument(createPetStore())])
  })

  test('petstore openapi prints the address and plans that its flags set', async () => {
    const flags = ['--public-url', 'https://a.test', '--base-path', '/x', '--plan-limits', 'gold=5/50']
    const options = { publicUrl: 'https://a.test', basePath: '/x', plans: { gold: { perMinute: 5, perDay: 50 } } }
    expect(JSON.parse((await runPetstore(['openapi', ...flags])).stdout)).toEqual(
      openApiDocument(createPetStore(options)),
    )
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
    '--cors',
    '*',
  ]
  const { address } = await startPetstore(...flags)
  const response = await fetch(new URL('/openapi.json', address))
  const plans = { gold: { perMinute: 5, perDay: 50 } }
  const options = { publicUrl: 'https://a.test', basePath: '/x', plans, bodyLimit: 999, cors: true }
  expect(await response.json()).toEqual(openApiDocument(createPetStore(options)))
})
