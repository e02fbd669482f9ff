import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { STEPS as postgresSteps } from '../../../adapters/back-ends/postgres/schema.ts'
import { STEPS as sqliteSteps } from '../../../adapters/back-ends/sqlite/schema.ts'

// Old databases have run these steps. If a step changed, new databases would differ from old ones. So add a step instead.
const released = {
  PostgreSQL: {
    steps: postgresSteps,
    hashes: ['73598ebbe41ccf6b90357f5d2fc11d0e784219d0961eee8b422d11b2792ee5aa'],
  },
  'SQLite and D1': {
    steps: sqliteSteps,
    hashes: ['e25a1342413aaa4801f162793458144d326ceffc76cef503f9fd1082a9a72df0'],
  },
}

/** Comments and spaces may change: a database does not read them. */
const wordsOf = (step: string) =>
  step
    .replaceAll(/^\s*--.*\n/gm, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ?([(),;]) ?/g, '$1')
    .trim()

const hashOf = (step: string) => createHash('sha256').update(wordsOf(step)).digest('hex')

describe.each(Object.entries(released))('the schema of %s', (_, { steps, hashes }) => {
  test('no released step has changed', () => {
    expect(steps.slice(0, hashes.length).map(hashOf)).toEqual(hashes)
  })

  test('the hash of each step is known', () => {
    const missing = steps.slice(hashes.length).map(hashOf)
    expect(missing, 'a step was added: add its hash to the end of `hashes` in this file').toEqual([])
  })
})
