import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { runPetstore, startServer } from '../../support/petstore-command.ts'

test('keys usage shows a ban of a running server, and keys unban ends it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'petstore-usage-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const data = ['--data', join(folder, 'pets.db')]
  const issued = await runPetstore(['keys', 'issue', '--plan', 'pro', '--limits', '1/100', '--json', ...data])
  const { token, key } = JSON.parse(issued.stdout)
  const server = await startServer(...data, '--drain-delay', '0')
  onTestFinished(() => server.end('SIGKILL'))
  const headers = { authorization: `Bearer ${token}` }
  const statuses: number[] = []
  // A new minute may begin between two requests, so this sends until the ban.
  while (!statuses.slice(-2).every((status) => status === 429) || statuses.length < 2)
    statuses.push((await fetch(`${server.url}/pets`, { headers })).status)

  const usage = await runPetstore(['keys', 'usage', key.id, ...data])
  expect(usage.stdout).toMatch(
    /^Plan {4}pro\nMinute {2}\d of 1 used, \d left, resets at 20.*\nDay {5}\d of 100 used, .*\nBanned {2}until 20/,
  )
  const json = JSON.parse((await runPetstore(['keys', 'usage', key.id, '--json', ...data])).stdout)
  expect(json.day).toMatchObject({ limit: 100, used: statuses.filter((status) => status === 200).length })
  const unban = await runPetstore(['keys', 'unban', key.id, ...data])
  expect(unban).toMatchObject({ code: 0, stdout: expect.stringContaining('is not banned') })
  const after = await runPetstore(['keys', 'usage', key.id, ...data])
  expect(after.stdout).toMatch(/Day {5}0 of 100 used, .*\nBanned {2}no\n$/)

  const unknown = await runPetstore(['keys', 'usage', 'key_unknown', ...data])
  expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining('there is no key with this id') })
})
