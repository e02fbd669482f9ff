import { spawnSync } from 'node:child_process'
import { median } from './compare.mjs'

const program = `
const started = performance.now()
const { createPetStore } = await import('petstore-kit')
createPetStore()
console.log(performance.now() - started)
`
/** Measures how long a new process takes to import the package and create a store. */
export async function benchStart({ rounds = 9 } = {}) {
  const samples = Array.from({ length: rounds }, startOnce)
  console.log(`\nimport and createPetStore(): ${median(samples).toFixed(1)} ms`)
}

function startOnce() {
  const options = { cwd: import.meta.dirname, encoding: 'utf8' }
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], options)
  if (status !== 0) throw new Error(`the package cannot be imported:\n${stderr}`)
  return Number(stdout)
}
