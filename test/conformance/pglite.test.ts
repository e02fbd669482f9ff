import { PGlite } from '@electric-sql/pglite'
import { afterAll, describe, test, vi } from 'vitest'
import { keyStoreContract, quotaContract, storageContract } from '../../src/testing/index.ts'
import { emptied } from '../support/postgres-back-end.ts'

// PGlite decodes texts with `new TextDecoder()`, which drops U+FEFF at the beginning. This class keeps it.
class WholeTextDecoder extends TextDecoder {
  constructor(label?: string) {
    super(label, { ignoreBOM: true })
  }
}
vi.stubGlobal('TextDecoder', WholeTextDecoder)
afterAll(() => vi.unstubAllGlobals())

const database = new PGlite()
afterAll(() => database.close())
const open = emptied(database)
const runs = 8

storageContract({ describe, test }, { name: 'PGlite', runs, open: async (clock) => (await open(clock)).as('storage') })
keyStoreContract(
  { describe, test },
  { name: 'PGlite', runs, open: async (clock) => (await open(clock)).as('keyStore') },
)
quotaContract({ describe, test }, { name: 'PGlite', runs, open: async (clock) => (await open(clock)).as('quota') })
