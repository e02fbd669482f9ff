import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { referenceRoutes } from '../../../../adapters/cli/openapi/reference.ts'
import { withSite } from '../../../../adapters/hosts/node/site.ts'
import { createPetStore, toApiRequest } from '../../../../src/index.ts'
import { VIEWER } from '../../../../src/openapi/reference.ts'

/** Returns a function that requests a path from a server with this file of the viewer. */
function site(viewer: string | undefined) {
  const petStore = createPetStore()
  const { handle } = withSite(petStore, referenceRoutes(petStore, viewer))
  return async (path: string) => {
    const response = await handle(toApiRequest(new Request(`http://a${path}`)))
    const policy = response.headers[response.headers.indexOf('Content-Security-Policy') + 1] ?? ''
    return { status: response.status, policy, body: 'bytes' in response ? String(response.bytes) : response.body }
  }
}

test('an installed viewer is served by the server itself', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'petstore-viewer-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = join(folder, 'standalone.js')
  await writeFile(file, 'viewer()')
  const get = site(file)
  const { policy, body } = await get('/reference')
  expect(policy).toContain("script-src 'self';")
  expect(body).toContain('<script src="/reference/scalar.js"></script>')
  expect(await get('/reference/scalar.js')).toMatchObject({ status: 200, body: 'viewer()' })
})

test('without an installed viewer, the page loads only the file on the CDN', async () => {
  const get = site(undefined)
  const { policy, body } = await get('/reference')
  expect(policy).toContain(`script-src ${VIEWER.scriptUrl};`)
  expect(body).toContain(`<script src="${VIEWER.scriptUrl}" integrity="sha384-`)
  expect((await get('/reference/scalar.js')).status).not.toBe(200)
})
