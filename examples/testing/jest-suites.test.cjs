// npx jest --rootDir examples/testing --testMatch '**/jest-suites.test.cjs'
const fc = require('fast-check')
const { memory } = require('petstore-kit')
const { keyStoreContract, quotaContract, storageContract } = require('petstore-kit/testing')

// In CommonJS, Jest has no `import()`, so the suites cannot load fast-check themselves.
const runner = { describe, test, fc }
const close = async () => {}

storageContract(runner, { name: 'memory', open: async (clock) => ({ port: memory({ clock }).storage, close }) })
keyStoreContract(runner, { name: 'memory', open: async (clock) => ({ port: memory({ clock }).keyStore, close }) })
quotaContract(runner, { name: 'memory', open: async (clock) => ({ port: memory({ clock }).quota, close }) })
