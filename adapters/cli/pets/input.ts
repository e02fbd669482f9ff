import { createReadStream, createWriteStream, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { printable } from '../terminal/output.ts'

/** A file that can be read twice. */
export interface InputFile {
  readonly path: string
  /** The name for messages. */
  readonly name: string
}

/** Calls `use` with a file. Copies standard input and pipes, which can be read only once, for the time of the call. */
export async function withInput(file: string, use: (input: InputFile) => Promise<void>): Promise<void> {
  if (file !== '-' && !existsSync(file)) throw new Error(`there is no file ${file}`)
  if (file !== '-' && statSync(file).isFile()) return use({ path: file, name: file })
  const folder = mkdtempSync(join(tmpdir(), 'petstore-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const stop = () => process.exit(130)
  process.once('SIGINT', stop)
  try {
    const path = join(folder, 'input')
    await pipeline(file === '-' ? process.stdin : createReadStream(file), createWriteStream(path))
    process.off('SIGINT', stop)
    await use({ path, name: file === '-' ? 'standard input' : file })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** How many wrong entries are printed. */
const SHOWN = 20

/** Reads all entries of a file. Returns the number of valid ones, and what is wrong with the others. */
export async function checkEntries(
  name: string,
  entries: AsyncIterable<{ readonly place: string; readonly problem?: string | undefined }>,
) {
  const lines: string[] = []
  let valid = 0
  let count = 0
  for await (const { place, problem } of entries) {
    if (problem === undefined) valid++
    else if (++count <= SHOWN) lines.push(printable(`${name}, ${place}: ${problem}`))
  }
  if (count > SHOWN) lines.push(`and ${(count - SHOWN).toLocaleString('en')} more`)
  return { valid, problems: { count, lines } }
}
