import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const root = new URL('../..', import.meta.url).pathname
const folder = join(root, 'node_modules/.cache/petstore-kit-unbatched')
const BATCHING = 'var BUSY_TURN = 2;'
let isMade = false

/**
 * Returns a copy of our build that never batches responses, to show what our own work costs. The store has no option for this,
 * because nobody needs one.
 */
export function unbatchedBuild() {
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
