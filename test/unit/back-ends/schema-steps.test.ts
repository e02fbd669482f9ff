import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { STEPS as postgresSteps } from '../../../adapters/back-ends/postgres/schema.ts'
import { STEPS as sqliteSteps } from '../../../adapters/back-ends/sqlite/schema.ts'

// Databases have run these steps. A changed step would give new databases other functions and tables than old ones: add a step.
const released = {
  PostgreSQL: {
    steps: postgresSteps,
    hashes: [
      '33a4b53ff41221302c95739951e63a32f91388dba8158c66b3ef2c10cef59fe7',
      '1b3d0a38d547970b90adf1a6bd0ca0c14f55dba5e88bf91f45e6edb86a9361fb',
      '93a647353cffa24c528e78691b335179ec1eed7d01e9b1e560ef455db9ff44b4',
      'c3140fa1a67e7af48a7d06ea0024bccf2ff04e9373fc266d04de67206ec81c62',
    ],
  },
  'SQLite and D1': {
    steps: sqliteSteps,
    hashes: [
      '9578e9d6779bbece0462a6b3a172fff2a4de4e3a665f4f3b7d2e121275295255',
      '66066d2dac845bd9249a7386afa9c67ce02af6a31ce4cb04d0f3f0a4feeb7d89',
    ],
  },
}

test.each(Object.entries(released))('no step of the schema changes: %s', (_, { steps, hashes }) => {
  const found = steps.map((step) => createHash('sha256').update(step).digest('hex'))
  expect(found).toEqual(hashes)
})
