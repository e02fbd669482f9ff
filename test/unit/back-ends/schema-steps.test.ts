import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { STEPS as postgresSteps } from '../../../adapters/back-ends/postgres/schema.ts'
import { STEPS as sqliteSteps } from '../../../adapters/back-ends/sqlite/schema.ts'

// Old databases have run these steps. If a step changed, new databases would differ from old ones. So add a step instead.
const released = {
  PostgreSQL: {
    steps: postgresSteps,
    hashes: [
      'e3ba058b4d37d9fc766ccdb187a84fc48deb79e9cb87ba83e07666db1808bc4f',
      '48bcefeb21f407edc752e2a84fad6e64881c9313d85f389a9f6e79e953fc8beb',
      'd3029ea8b19671a46f9d874f2aacacf68b54d511abba83fdb9e11310df3fa8a7',
      'c07513ec175a1a01ce1e133e1abf08440988bebd428899ee7c25c1d1f23e16e0',
    ],
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

test.each(Object.entries(released))('no released step of the schema has changed: %s', (_, { steps, hashes }) => {
  const found = steps.map((step) => createHash('sha256').update(wordsOf(step)).digest('hex'))
  expect(found).toEqual(hashes)
})
