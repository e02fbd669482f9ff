import { describe, test } from 'vitest'
import { memory } from '../../src/index.ts'
import { keyStoreContract, quotaContract, storageContract } from '../../src/testing/index.ts'

const close = async () => {}

storageContract({ describe, test }, { name: 'memory', open: async () => ({ port: memory().storage, close }) })
keyStoreContract(
  { describe, test },
  { name: 'memory', open: async (clock) => ({ port: memory({ clock }).keyStore, close }) },
)
quotaContract({ describe, test }, { name: 'memory', open: async (clock) => ({ port: memory({ clock }).quota, close }) })
