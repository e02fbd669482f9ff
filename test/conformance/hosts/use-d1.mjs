import { env } from 'cloudflare:workers'
import { d1 } from 'petstore-kit/d1'

/** Gives each store a D1 database of its own: the bindings DB0, DB1 and so on. */
const backEnds = []

globalThis.newBackEnd = (options) => {
  const backEnd = d1(env[`DB${backEnds.length}`], options)
  backEnds.push(backEnd)
  return backEnd
}

/** Creates the tables of all stores. */
export async function migrateAll() {
  for (const backEnd of backEnds) await backEnd.migrate()
}
