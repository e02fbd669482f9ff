import { describe, expect, test } from 'vitest'
import { probeRoutes, withSite } from '../../../../adapters/hosts/node/site.ts'
import { createPetStore, toApiRequest } from '../../../../src/index.ts'

describe('withSite', () => {
  const { handle } = withSite(
    createPetStore(),
    probeRoutes(
      async () => ({ ok: false, failing: ['storage'] }),
      () => false,
    ),
  )
  const send = (path: string, method = 'GET') => handle(toApiRequest(new Request(`http://a${path}`, { method })))

  test('/ready responds with 503 and the failing part', async () => {
    const { status, body, headers } = await send('/ready?verbose')
    expect([status, body]).toEqual([503, '{"status":"unavailable","failing":["storage"]}'])
    expect(headers.join()).not.toContain('X-RateLimit')
  })

  test('withSite responds to HEAD without a body', async () => {
    expect(await send('/health', 'HEAD')).toMatchObject({ status: 200, body: '' })
  })

  test('withSite rejects other methods with 405', async () => {
    expect(await send('/health', 'POST')).toMatchObject({ status: 405, headers: ['Allow', 'GET, HEAD'] })
  })

  test('withSite passes a target that is no path to the pet store', async () => {
    const request = toApiRequest(new Request('http://a/', { method: 'OPTIONS' }))
    expect((await handle({ ...request, method: 'OPTIONS', target: '*', header: () => undefined })).status).toBe(401)
  })

  test('withSite passes other paths to the pet store', async () => {
    expect([(await send('/healthy')).status, (await send('/v1/health')).status]).toEqual([401, 401])
  })
})
