// A back end on the driver `mongodb`, as docs/write-a-back-end.md explains it.
// client: new MongoClient(url, { useBigInt64: true, ignoreUndefined: true }), connected to a replica set
import { countRequest, hashIdempotency, hashToken, keyChanges, newKey, newQuotaState } from 'petstore-kit/back-end'

export function mongodb(client, clock = Date) {
  const collection = (name) => client.db('petstore').collection(name)
  const [pets, last, used, keys] = ['pets', 'last', 'used', 'keys'].map(collection)
  const transaction = (run) => client.withSession((session) => session.withTransaction(() => run({ session })))
  const toPet = ({ _id, ...pet }) => ({ id: _id, ...pet })

  const useOf = (created, { fingerprint }) => ({ created, fingerprint, endsAt: new Date(clock.now() + 172_800_000) })
  const storage = {
    async list({ limit, after, status }) {
      const filter = { ...(after !== undefined && { _id: { $gt: after } }), ...(status && { status }) }
      const found = await pets.find(filter).sort({ _id: 1 }).limit(limit).toArray()
      return found.map(toPet)
    },
    async create(pet, { idempotency } = {}) {
      const hashes = idempotency && (await hashIdempotency(idempotency))
      return transaction(async (options) => {
        const use = hashes && (await used.findOne({ _id: hashes.key }, options))
        if (use && use.endsAt > clock.now())
          return { ...use.created, earlier: use.fingerprint === hashes.fingerprint ? 'same' : 'different' }
        const next = { ...options, upsert: true, returnDocument: 'after' }
        const { id } = await last.findOneAndUpdate({ _id: 'pets' }, { $inc: { id: 1n } }, next)
        await pets.insertOne({ _id: id, ...pet }, options)
        const created = { id, ...pet }
        if (hashes) await used.replaceOne({ _id: hashes.key }, useOf(created, hashes), { ...options, upsert: true })
        return created
      })
    },
    async get(id) {
      const found = await pets.findOne({ _id: id })
      return found && toPet(found)
    },
    async update(id, changes, { if: condition } = {}) {
      const wanted = { ...condition, _id: id }
      const changed = await pets.findOneAndUpdate(wanted, { $set: changes }, { returnDocument: 'after' })
      const pet = changed ?? (await pets.findOne({ _id: id }))
      return pet && { applied: changed !== null, pet: toPet(pet) }
    },
    async remove(id, { if: condition } = {}) {
      const removed = await pets.findOneAndDelete({ ...condition, _id: id })
      const pet = removed ?? (await pets.findOne({ _id: id }))
      return pet && { applied: removed !== null, pet: toPet(pet) }
    },
  }

  const valid = { 'key.revokedAt': { $exists: false } }
  const keyStore = {
    async find(token) {
      const unexpired = { $not: { $lte: clock.now() } }
      return (await keys.findOne({ hash: await hashToken(token), ...valid, 'key.expiresAt': unexpired }))?.key
    },
    async issue(options) {
      const { token, hash, key } = await newKey(options, clock.now())
      await keys.insertOne({ hash, key })
      return { token, key }
    },
    async update(id, changes) {
      const members = keyChanges(changes).map(([name, value]) => [`key.${name}`, value])
      const $set = Object.fromEntries(members.filter(([, value]) => value !== null))
      const $unset = Object.fromEntries(members.filter(([, value]) => value === null))
      // MongoDB accepts empty lists of changes from version 5.0 on.
      await keys.updateOne({ 'key.id': id, ...valid }, { $set, $unset })
      return (await keys.findOne({ 'key.id': id, ...valid }))?.key
    },
    async revoke(id) {
      const result = await keys.updateOne({ 'key.id': id, ...valid }, { $set: { 'key.revokedAt': clock.now() } })
      return result.modifiedCount === 1
    },
    list: async () => (await keys.find({}).sort({ _id: 1 }).toArray()).map(({ key }) => key),
  }

  const quota = {
    spend: (request) =>
      transaction(async (options) => {
        const counts = collection(request.anonymous ? 'addresses' : 'customers')
        const state = (await counts.findOne({ _id: request.subject }, options)) ?? newQuotaState()
        const count = countRequest(state, request)
        const endsAt = new Date(Math.max(state.dayEndsAt, state.bannedUntil))
        await counts.replaceOne({ _id: request.subject }, { ...state, endsAt }, { ...options, upsert: true })
        return count
      }),
  }
  return { storage, keyStore, quota }
}
