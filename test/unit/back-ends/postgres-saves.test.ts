import { expect, test } from 'vitest'
import type { Connection } from '../../../adapters/back-ends/postgres/connection.ts'
import { postgresSaves } from '../../../adapters/back-ends/postgres/saves.ts'

/** Simulates a PostgreSQL server, which gets a new `run` after a crash. `sent` lists each statement as `run:id`. */
function start(current: { run: string; fails?: boolean }) {
  const sent: string[] = []
  const queryPatiently = async (_text: string, [run, id]: unknown[] = []) => {
    sent.push(`${run}:${id}`)
    if (current.fails) throw new Error('lost')
    return [{ saved: run === current.run }]
  }
  return { sent, saves: postgresSaves({ queryPatiently } as unknown as Connection, 'save', 1_000) }
}

test('concurrent calls of `save` send one statement with the highest id', async () => {
  const { sent, saves } = start({ run: '1' })
  await Promise.all([8n, 9n, 2n].map((lastId) => saves.save({ run: '1', lastId })))
  expect(sent).toEqual(['1:9'])
})

test('a failed save is sent again together with a newer save', async () => {
  const server = { run: '1', fails: true }
  const { sent, saves } = start(server)
  await expect(saves.save({ run: '1', lastId: 3n })).rejects.toThrow('lost')
  server.fails = false
  await Promise.all([saves.save({ run: '1', lastId: 7n }), saves.retryFailed()])
  expect(sent).toEqual(['1:3', '1:7'])
})

test.each([
  ['earlier run first', ['1', '2']],
  ['current run first', ['2', '1']],
])('save fails only for animals added before a crash: %s', async (_, runs) => {
  const { saves } = start({ run: '2' })
  const results = await Promise.allSettled(runs.map((run) => saves.save({ run, lastId: run === '1' ? 9n : 4n })))
  expect(results.map(({ status }) => status)).toEqual(runs.map((run) => (run === '2' ? 'fulfilled' : 'rejected')))
})
