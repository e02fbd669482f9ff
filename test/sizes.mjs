// Measures the sizes of .size-limit.js in dist, and compares them with the documents. With `--write-docs`, corrects the documents.
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'

const { stdout, stderr } = spawnSync('npx', ['size-limit', '--json'], { encoding: 'utf8', shell: true })
process.stderr.write(stderr)
const sizes = JSON.parse(stdout)
for (const { name, size, sizeLimit, passed } of sizes)
  console.log(
    `${kilobytes(size).toFixed(2)} kB (at most ${kilobytes(sizeLimit)}): ${name}${passed ? '' : ': TOO LARGE'}`,
  )
if (sizes.some(({ passed }) => !passed)) process.exitCode = 1

const [core, required, client] = sizes.map(({ size }) => kilobytes(size))
/** Where the documents state a size. The pattern matches the text before the number; a space also matches the end of a line. */
const statements = [
  { file: 'README.md', before: /The core with its back end in memory is /, size: core },
  { file: 'docs/client.md', before: /and Workers\. It is /, size: client },
  { file: 'docs/mounting.md', before: /esbuild makes /, size: required },
  { file: 'docs/mounting.md', before: /kB from `require` and /, size: core },
]
for (const { file, before, size } of statements) {
  const text = readFileSync(file, 'utf8')
  const number = new RegExp(`(?<=${before.source.replaceAll(' ', '\\s')})\\d+(?= kB)`)
  const stated = number.exec(text)?.[0]
  if (stated === undefined) throw new Error(`${file}: expected a size after ${before}`)
  if (process.argv.includes('--write-docs')) writeFileSync(file, text.replace(number, String(Math.round(size))))
  else if (Math.abs(size - Number(stated)) > 1) {
    console.error(`${file} states ${stated} kB, but it is ${size.toFixed(1)}: run npm run size -- --write-docs`)
    process.exitCode = 1
  }
}

/** Converts bytes as size-limit does. */
function kilobytes(bytes) {
  return bytes / 1000
}
