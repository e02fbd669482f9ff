// npx jest --rootDir examples/testing --testMatch '**/jest-suites.test.cjs'
const { memory } = require('petstore-kit')
const { keyStoreContract, quotaContract, storageContract } = require('petstore-kit/testing')

const close = async () => {}

storageContract(
  { describe, test },
  { name: 'memory', open: async (clock) => ({ port: memory({ clock }).storage, close }) },
)
keyStoreContract(
  { describe, test },
  {
    name: 'memory',
    open: async (clock) => ({ port: memory({ clock }).keyStore, close }),
  },
)
quotaContract({ describe, test }, { name: 'memory', open: async (clock) => ({ port: memory({ clock }).quota, close }) })
