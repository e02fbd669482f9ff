// A back end on the driver `mongodb`, as docs/write-a-back-end.md explains it.
// client: new MongoClient(url, { useBigInt64: true, ignoreUndefined: true }), connected to a replica set
import {
  countRequest,
  hashIdempotency,
  hashToken,
  keyChanges,
  newKey,
  newKeyIds,
  newQuotaState,
} from 'petstore-kit/back-end'

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

  const newId = newKeyIds()
  const unrevoked = { 'key.revokedAt': { $exists: false } }
  /** The conditions of each state of a key. */
  const inState = () => {
    const expired = { 'key.expiresAt': { $lte: clock.now() } }
    const current = { ...unrevoked, 'key.expiresAt': { $not: { $lte: clock.now() } } }
    return {
      revoked: { 'key.revokedAt': { $exists: true } },
      expired: { ...unrevoked, ...expired },
      suspended: { ...current, 'key.suspendedAt': { $exists: true } },
      active: { ...current, 'key.suspendedAt': { $exists: false } },
    }
  }
  /** Changes a key that is not revoked, in one step. A member that is null is removed from the key. */
  const changeKey = async (id, members) => {
    const named = Object.entries(members).map(([name, value]) => [`key.${name}`, value])
    const $set = Object.fromEntries(named.filter(([, value]) => value !== null))
    const $unset = Object.fromEntries(named.filter(([, value]) => value === null))
    // MongoDB accepts empty lists of changes from version 5.0 on.
    const found = await keys.findOneAndUpdate({ _id: id, ...unrevoked }, { $set, $unset }, { returnDocument: 'after' })
    return found?.key
  }
  const keyStore = {
    async find(token) {
      const hash = await hashToken(token)
      const previous = { previousHash: hash, 'key.previousTokenExpiresAt': { $gt: clock.now() } }
      const found = await keys.findOne({ ...inState().active, $or: [{ hash }, previous] })
      if (found === null || found.hash === hash) return found?.key
      return { ...found.key, tokenExpiresAt: found.key.previousTokenExpiresAt }
    },
    async issue(options) {
      const { token, hash, key } = await newKey(options, clock.now(), newId)
      await keys.insertOne({ _id: key.id, hash, key })
      return { token, key }
    },
    async adopt(hash, options) {
      const { key } = await newKey(options, clock.now(), newId)
      const isNew = await transaction(async (options) => {
        if (await keys.findOne({ $or: [{ hash }, { previousHash: hash }] }, options)) return false
        await keys.insertOne({ _id: key.id, hash, key }, options)
        return true
      })
      return isNew ? key : undefined
    },
    get: async (id) => (await keys.findOne({ _id: id }))?.key,
    async list({ limit, after, account, state }) {
      const filter = { ...(after && { _id: { $gt: after } }), ...(account && { 'key.account': account }) }
      const found = await keys
        .find({ ...filter, ...inState()[state] })
        .sort({ _id: 1 })
        .limit(limit)
        .toArray()
      return found.map(({ key }) => key)
    },
    update: (id, changes) => changeKey(id, Object.fromEntries(keyChanges(changes))),
    rotate: (id, { overlapSeconds }) =>
      transaction(async (options) => {
        const found = await keys.findOne({ _id: id, ...unrevoked }, options)
        if (found === null) return undefined
        const { token, hash } = await newKey({ plan: found.key.plan }, clock.now())
        const { previousTokenExpiresAt: _, ...key } = found.key
        if (overlapSeconds > 0) key.previousTokenExpiresAt = clock.now() + overlapSeconds * 1_000
        const previous = overlapSeconds > 0 && { previousHash: found.hash }
        await keys.replaceOne({ _id: id }, { hash, ...previous, key }, options)
        return { token, key }
      }),
    async suspend(id) {
      const resumed = { _id: id, ...unrevoked, 'key.suspendedAt': { $exists: false } }
      await keys.updateOne(resumed, { $set: { 'key.suspendedAt': clock.now() } })
      return (await keys.findOne({ _id: id, ...unrevoked }))?.key
    },
    resume: (id) => changeKey(id, { suspendedAt: null }),
    async revoke(id) {
      const result = await keys.updateOne({ _id: id, ...unrevoked }, { $set: { 'key.revokedAt': clock.now() } })
      return result.modifiedCount === 1
    },
    async remove(id) {
      const { expired, revoked } = inState()
      return (await keys.deleteOne({ _id: id, $or: [expired, revoked] })).deletedCount === 1
    },
    async recordUse(ids, day) {
      const earlier = { 'key.lastUsedOn': { $not: { $gte: day } } }
      await keys.updateMany({ _id: { $in: ids }, ...earlier }, { $set: { 'key.lastUsedOn': day } })
    },
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
