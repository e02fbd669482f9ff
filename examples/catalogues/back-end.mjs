// A back end on PostgreSQL in which each account has a catalogue of its own: a schema with its animals and idempotency keys.
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { postgres } from 'petstore-kit/postgres'

/** Returns the name of the owner's schema: a hash, because an account may be any text. */
export const schemaOf = (owner) => `pets_${createHash('sha256').update(owner).digest('hex').slice(0, 40)}`

/** A key without an account has a catalogue of its own. Its id cannot be mistaken for the name of an account. */
const ownerOf = ({ id, account }) => (account ? `account:${account}` : `key:${id}`)

export function catalogues(client, options) {
  const host = postgres(client, options)

  // A storage holds no connection, so it may be closed by forgetting it. The tables are created at the first use.
  const storages = new LRUCache({
    max: 1_000,
    ignoreFetchAbort: true, // a storage that is displaced while it opens still serves the requests that wait for it
    async fetchMethod(owner) {
      const { migrate, storage } = postgres(client, { ...options, schema: schemaOf(owner) })
      await migrate()
      return storage
    },
  })

  /** Returns the animals of an owner, such as `account:acme`. Without an owner, those of the host. */
  const catalogueOf = async (owner) => (owner === undefined ? host.storage : storages.fetch(owner))
  const catalogueFor = ({ key } = {}) => catalogueOf(key && ownerOf(key))

  const storage = {
    ...host.storage, // the other methods are only for the host, which has no key
    list: async (query, context) => (await catalogueFor(context)).list(query, context),
    create: async (pet, settings, context) => (await catalogueFor(context)).create(pet, settings, context),
    get: async (id, context) => (await catalogueFor(context)).get(id, context),
  }
  return { ...host, storage, catalogueOf }
}
