import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Miniflare } from 'miniflare'
import { expect, onTestFinished, test } from 'vitest'
import { d1 } from '../../../adapters/back-ends/sqlite/d1/index.ts'
import { onDemand } from '../../support/on-demand.ts'
import { missing } from '../../support/skips.ts'

const example = join(import.meta.dirname, '../../../examples/worker-d1')
const wrangler = await onDemand('wrangler@4.86.0')

test.skipIf(missing('wrangler', wrangler !== undefined))('wrangler applies the migrations of the package', async () => {
  const state = await mkdtemp(join(tmpdir(), 'petstore-kit-'))
  onTestFinished(() => rm(state, { recursive: true }))
  const program = join(wrangler ?? '', 'node_modules/wrangler/bin/wrangler.js')
  const args = [program, 'd1', 'migrations', 'apply', 'pets', '--local', '--persist-to', state]
  const env = { ...process.env, CI: 'true', WRANGLER_SEND_METRICS: 'false', WRANGLER_LOG_PATH: state }
  await promisify(execFile)(process.execPath, args, { cwd: example, env })

  const configuration = await readFile(join(example, 'wrangler.jsonc'), 'utf8')
  const [, id = ''] = /"database_id": "(.+)"/.exec(configuration) ?? []
  const miniflare = new Miniflare({
    modules: true,
    script: 'export default {}',
    d1Databases: { DB: id },
    d1Persist: join(state, 'v3/d1'),
  })
  onTestFinished(() => miniflare.dispose())
  const backEnd = d1(await miniflare.getD1Database('DB'))
  const { key } = await backEnd.keyStore.issue({ plan: 'free' })
  // The tables are up to date, so there is nothing to do.
  await backEnd.migrate()
  expect(await backEnd.keyStore.list({ limit: 1_000 })).toEqual([key])
})
