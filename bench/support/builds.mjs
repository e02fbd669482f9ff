import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const root = new URL('../..', import.meta.url).pathname
const folder = join(root, 'node_modules/.cache/petstore-kit-unbatched')
const BATCHING = 'var BUSY_TURN = 2;'
/** The copies that this run has made, by the folder of their build. */
const copies = new Map()

/** Returns the folder `dist` that a server of ours uses, or `undefined` for the build of this checkout. */
export function distOf({ isUnbatched, against }) {
  const dist = against && earlierBuild(against)
  return isUnbatched ? unbatchedBuild(dist ?? join(root, 'dist')) : dist
}

/** Returns the folder `dist` of an earlier checkout, which `--against` names. */
export function earlierBuild(folder) {
  const dist = resolve(process.env.INIT_CWD ?? '.', folder, 'dist')
  if (!existsSync(join(dist, 'index.js')))
    throw new Error(`--against expects a folder with a build, but ${dist} has no index.js`)
  return dist
}

/**
 * Returns a copy of a build that never batches responses, to show what our own work costs. The store has no option for this,
 * because nobody needs one.
 */
function unbatchedBuild(dist) {
  const made = copies.get(dist)
  if (made !== undefined) return made
  const copy = join(folder, String(copies.size))
  rmSync(copy, { recursive: true, force: true })
  cpSync(dist, copy, { recursive: true })
  const chunks = readdirSync(copy).filter((name) => name.endsWith('.js'))
  const found = chunks.filter((name) => readFileSync(join(copy, name), 'utf8').includes(BATCHING))
  if (found.length === 0) throw new Error(`no file of the build contains "${BATCHING}"; adapt support/builds.mjs`)
  for (const name of found) {
    const file = join(copy, name)
    writeFileSync(file, readFileSync(file, 'utf8').replace(BATCHING, 'var BUSY_TURN = Infinity;'))
  }
  copies.set(dist, copy)
  return copy
}
