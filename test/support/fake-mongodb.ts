/** The part of the driver `mongodb` that examples/mongodb.mjs uses, in memory. Transactions run one after the other. */

type Document = Record<string, unknown>

function valueAt(document: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => (value as Document | undefined)?.[name], document)
}

const given = (document: Document) => Object.entries(document).filter(([, value]) => value !== undefined)

type Value = bigint | number | string

interface Operators {
  readonly $gt?: Value
  readonly $gte?: Value
  readonly $lte?: Value
  readonly $in?: readonly unknown[]
  readonly $exists?: boolean
  readonly $not?: Operators
}

function fulfils(value: unknown, { $gt, $gte, $lte, $in, $exists, $not }: Operators): boolean {
  if ($not !== undefined) return !fulfils(value, $not)
  if ($gt !== undefined) return (value as Value) > $gt
  if ($gte !== undefined) return (value as Value) >= $gte
  if ($lte !== undefined) return (value as Value) <= $lte
  if ($in !== undefined) return $in.includes(value)
  return (value !== undefined) === $exists
}

function matches(document: Document, { $or, ...filter }: Document): boolean {
  if ($or !== undefined && !($or as readonly Document[]).some((one) => matches(document, one))) return false
  // The client of the example has the setting `ignoreUndefined`.
  return given(filter).every(([path, wanted]) => {
    const value = valueAt(document, path)
    return typeof wanted === 'object' && wanted !== null ? fulfils(value, wanted) : value === wanted
  })
}

/** Sets and removes members of a document, by paths such as `key.plan`. */
function change(document: Document, { $set = {}, $unset = {} }: { $set?: Document; $unset?: Document }): void {
  const holderOf = (path: string) => (path.includes('.') ? (document[path.split('.')[0] ?? ''] as Document) : document)
  const nameOf = (path: string) => path.split('.').at(-1) ?? ''
  for (const path of Object.keys($unset)) delete holderOf(path)[nameOf(path)]
  for (const [path, value] of given($set)) holderOf(path)[nameOf(path)] = value
}

function fakeCollection() {
  let documents: Document[] = []
  let inserts = 0
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve))
  const timer = () => new Promise<void>((resolve) => setTimeout(resolve, 0))
  const select = (filter: Document) => documents.filter((document) => matches(document, filter))
  return {
    find(filter: Document) {
      let found = select(filter)
      const cursor = {
        sort({ _id }: { _id: number }) {
          const order = (a: Document, b: Document) => ((a._id as bigint) < (b._id as bigint) ? -_id : _id)
          found = found.toSorted(order)
          return cursor
        },
        limit(count: number) {
          found = found.slice(0, count)
          return cursor
        },
        toArray: async () => structuredClone(found),
      }
      return cursor
    },
    async findOne(filter: Document) {
      await turn()
      return structuredClone(select(filter)[0] ?? null)
    },
    async insertOne(document: Document) {
      // Every second insert takes longer, because the inserts of a real database end in any order.
      for (let turns = ++inserts % 2 === 1 ? 3 : 1; turns > 0; turns--) await timer()
      documents.push(structuredClone({ _id: inserts, ...document }))
    },
    async updateOne(filter: Document, changes: { $set: Document }) {
      const [document] = select(filter)
      if (document) change(document, changes)
      return { modifiedCount: document ? 1 : 0 }
    },
    async updateMany(filter: Document, changes: { $set: Document }) {
      for (const document of select(filter)) change(document, changes)
    },
    async deleteOne(filter: Document) {
      const [document] = select(filter)
      documents = documents.filter((one) => one !== document)
      return { deletedCount: document ? 1 : 0 }
    },
    async replaceOne(filter: Document, document: Document) {
      documents = [...documents.filter((one) => !matches(one, filter)), structuredClone({ ...document, ...filter })]
    },
    async findOneAndUpdate(
      filter: Document,
      { $inc, ...changes }: { $inc?: { id: bigint }; $set?: Document; $unset?: Document },
      { upsert = false }: { upsert?: boolean },
    ) {
      const [document] = select(filter)
      if (document === undefined && !upsert) return null
      const updated: Document = document ?? { ...filter }
      change(updated, changes)
      if ($inc) updated.id = ((updated.id as bigint | undefined) ?? 0n) + $inc.id
      if (document === undefined) documents.push(updated)
      return structuredClone(updated)
    },
    async findOneAndDelete(filter: Document) {
      const [document] = select(filter)
      documents = documents.filter((one) => one !== document)
      return document ?? null
    },
  }
}

export function fakeMongoClient() {
  const collections = new Map<string, ReturnType<typeof fakeCollection>>()
  let running: Promise<unknown> = Promise.resolve()
  const withTransaction = <T>(run: () => Promise<T>): Promise<T> => {
    const result = running.then(run)
    running = result.catch(() => undefined)
    return result
  }
  const collection = (name: string) => {
    const found = collections.get(name) ?? fakeCollection()
    collections.set(name, found)
    return found
  }
  return {
    db: () => ({ collection }),
    withSession: <T>(use: (session: object) => Promise<T>): Promise<T> => use({ withTransaction }),
  }
}
