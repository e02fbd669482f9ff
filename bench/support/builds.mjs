import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const root = new URL('../..', import.meta.url).pathname
const folder = join(root, 'node_modules/.cache/petstore-kit-unbatched')
const BATCHING = 'var BUSY_TURN = 2;'
let isMade = false

/** Returns the folder `dist` that a server of ours uses, or `undefined` for the build of this checkout. */
export function distOf({ isUnbatched, against }) {
  if (isUnbatched) return unbatchedBuild()
  return against && earlierBuild(against)
}

/** Returns the folder `dist` of an earlier checkout, which `--against` names. */
export function earlierBuild(folder) {
  const dist = resolve(process.env.INIT_CWD ?? '.', folder, 'dist')
  if (!existsSync(join(dist, 'index.js')))
    throw new Error(`--against expects a folder with a build, but ${dist} has no index.js`)
  return dist
}

/**
 * Returns a copy of our build that never batches responses, to show what our own work costs. The store has no option for this,
 * because nobody needs one.
 */
function unbatchedBuild() {
  if (isMade) return folder
  rmSync(folder, { recursive: true, force: true })
  cpSync(join(root, 'dist'), folder, { recursive: true })
  const chunks = readdirSync(folder).filter((name) => name.endsWith('.js'))
  const found = chunks.filter((name) => readFileSync(join(folder, name), 'utf8').includes(BATCHING))
  if (found.length === 0) throw new Error(`no file of the build contains "${BATCHING}"; adapt support/builds.mjs`)
  for (const name of found) {
    const file = join(folder, name)
    writeFileSync(file, readFileSync(file, 'utf8').replace(BATCHING, 'var BUSY_TURN = Infinity;'))
  }
  isMade = true
  return folder
}
