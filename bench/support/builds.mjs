import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** Returns the folder `dist` of an earlier checkout, which `--against` names. */
export function earlierBuild(folder) {
  const dist = resolve(process.env.INIT_CWD ?? '.', folder, 'dist')
  if (!existsSync(join(dist, 'index.js')))
    throw new Error(`--against expects a folder with a build, but ${dist} has no index.js`)
  return dist
}
