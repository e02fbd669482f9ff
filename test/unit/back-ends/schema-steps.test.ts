import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { STEPS as postgresSteps } from '../../../adapters/back-ends/postgres/schema.ts'
import { STEPS as sqliteSteps } from '../../../adapters/back-ends/sqlite/schema.ts'

// Databases have run these steps. A changed step would give new databases other functions and tables than old ones: add a step.
const released = {
  PostgreSQL: {
    steps: postgresSteps,
    hashes: [
      '39f8eceda85ba768a3993d5041a7dc33c8b5c5a4f9be2162212072e919de5e32',
      'fee0368785083df5217f8ce83117e1bd9541ec863697729ee5c199620b1e840e',
      '924e8c3eaf8ddc9fc1ba5ca5e2c97f9b61d113357ded4f2b376a57a347683e11',
      '3d2cf027650d389c06dc7fdb61da384404aaa7a59e3f24d6490e0fd91cbab833',
    ],
  },
  'SQLite and D1': {
    steps: sqliteSteps,
    hashes: [
      'e48669d776e4cd288e877dde8d09e69bfdd2adfaebd57301aead210092ad061d',
      '66066d2dac845bd9249a7386afa9c67ce02af6a31ce4cb04d0f3f0a4feeb7d89',
    ],
  },
}

/** Comments may change: a database does not read them. */
const withoutComments = (step: string) => step.replaceAll(/^\s*--.*\n/gm, '')

test.each(Object.entries(released))('no released step of the schema has changed: %s', (_, { steps, hashes }) => {
  const found = steps.map((step) => createHash('sha256').update(withoutComments(step)).digest('hex'))
  expect(found).toEqual(hashes)
})
