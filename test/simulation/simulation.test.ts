import { PGlite } from '@electric-sql/pglite'
import { afterAll, expect, test } from 'vitest'
import { loadSimulation } from './load.ts'
import { PLANTED } from './planted.ts'
import { report } from './report.ts'

const SCHEDULES = 2_000
const pglite = new PGlite()
afterAll(() => pglite.close())

test('random schedules of database calls break no rule', { timeout: 300_000 }, async () => {
  const { simulate } = await loadSimulation()
  const finding = await simulate(pglite, 1, SCHEDULES)
  expect(finding && report(finding)).toBeUndefined()
})

test.each(Object.entries(PLANTED))('simulate finds the fault: %s', { timeout: 300_000 }, async (_, { edits, rule }) => {
  const { simulate } = await loadSimulation(edits)
  const finding = await simulate(pglite, 1, SCHEDULES)
  expect(finding?.broken.rule).toContain(rule)
})
