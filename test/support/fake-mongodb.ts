/** The part of the driver `mongodb` that examples/mongodb.mjs uses, in memory. Transactions run one after the other. */

type Document = Record<string, unknown>

function valueAt(document: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => (value as Document | undefined)?.[name], document)
}

const given = (document: Document) => Object.entries(document).filter(([, value]) => value !== undefined)

function matches(document: Document, filter: Document): boolean {
  // The client of the example has the setting `ignoreUndefined`.
  return given(filter).every(([path, wanted]) => {
    const value = valueAt(document, path)
    if (typeof wanted !== 'object' || wanted === null) return value === wanted
    const { $gt, $gte, $exists, $not } = wanted as {
      $gt?: bigint
      $gte?: bigint
      $exists?: boolean
      $not?: { $lte: number }
    }
    if ($not !== undefined) return !((value as number) <= $not.$lte)
    if ($gt !== undefined) return (value as bigint) > $gt
    if ($gte !== undefined) return (value as bigint) >= $gte
    return (value !== undefined) === $exists
  })
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
    async updateOne(filter: Document, { $set, $unset = {} }: { $set: Document; $unset?: Document }) {
      const [document] = select(filter)
      for (const path of Object.keys($unset)) {
        const [parent = '', name = ''] = path.split('.')
        if (document) delete (document[parent] as Document)[name]
      }
      for (const [path, value] of Object.entries($set)) {
        const [parent = '', name = ''] = path.split('.')
        if (document) (document[parent] as Document)[name] = value
      }
      return { modifiedCount: document ? 1 : 0 }
    },
    async replaceOne(filter: Document, document: Document) {
      documents = [...documents.filter((one) => !matches(one, filter)), structuredClone({ ...document, ...filter })]
    },
    async findOneAndUpdate(
      filter: Document,
      { $inc, $set = {} }: { $inc?: { id: bigint }; $set?: Document },
      { upsert = false }: { upsert?: boolean },
    ) {
      const [document] = select(filter)
      if (document === undefined && !upsert) return null
      const updated: Document = { ...filter, ...document, ...Object.fromEntries(given($set)) }
      if ($inc) updated.id = ((updated.id as bigint | undefined) ?? 0n) + $inc.id
      documents = [...documents.filter((one) => one !== document), updated]
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
