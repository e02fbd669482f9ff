import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { STEPS as postgresSteps } from '../../../adapters/back-ends/postgres/schema.ts'
import { STEPS as sqliteSteps } from '../../../adapters/back-ends/sqlite/schema.ts'

// Old databases have run these steps. If a step changed, new databases would differ from old ones. So add a step instead.
const released = {
  PostgreSQL: {
    steps: postgresSteps,
    hashes: ['4719e380d63dbdbce843010bdf57c7458cf79940a4991bd19ec710fd6d6e9d31'],
  },
  'SQLite and D1': {
    steps: sqliteSteps,
    hashes: [
      'c2b499c7c0307f3697fe8b51ff7bc3af138b8780edfbe0fa6706f379e39f24b5',
      '4f8a19827ac05cd9c7e6008c9322c7d243071122cc55daf95973c3e9f512608c',
    ],
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
