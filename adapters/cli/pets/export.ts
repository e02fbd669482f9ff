import { once } from 'node:events'
import { createWriteStream, existsSync, renameSync } from 'node:fs'
import type { Pet, PetStatus } from '../../../src/index.ts'
import { writePet } from '../../../src/pets/json.ts'
import { requireFile } from '../engines/sqlite-file.ts'
import type { DatabaseFlags } from '../terminal/flags.ts'
import { animals, print, printable } from '../terminal/output.ts'
import { formatOf, type PetsFormat } from './files.ts'
import { withPets } from './pets.ts'

export interface ExportFlags extends DatabaseFlags {
  readonly status?: PetStatus
  readonly format?: PetsFormat
}

/** Runs `petstore pets export`. Reads page by page, also while a server uses the store. */
export async function runExport(file: string, { status, format: given, ...database }: ExportFlags): Promise<void> {
  const format = formatOf(file, given)
  if (database.data !== undefined) requireFile(database.data)
  if (existsSync(file)) throw new Error(`${file} exists already: give the name of a new file`)
  await withPets(database, async (pets) => {
    const { write, end } = file === '-' ? { write: print, end: async () => {} } : toFile(file)
    let count = 0
    let lines: string[] = []
    for await (const pet of pets.all({ status })) {
      lines.push(lineOf(pet, format, count === 0))
      count++
      if (lines.length === LINES_AT_ONCE) await write(lines.splice(0).join('\n'))
    }
    if (count === 0) lines = format === 'json' ? ['['] : format === 'csv' ? [HEADER] : []
    if (format === 'json') lines.push(']')
    if (lines.length > 0) await write(lines.join('\n'))
    await end()
    console.error(printable(`Wrote ${animals(count)}${file === '-' ? '' : ` to ${file}`}.`))
  })
}

const LINES_AT_ONCE = 1_000
const HEADER = 'id,name,categoryId,status'

function lineOf(pet: Pet, format: PetsFormat, isFirst: boolean): string {
  if (format === 'jsonl') return writePet(pet)
  if (format === 'json') return `${isFirst ? '[' : ','}${writePet(pet)}`
  const line = [pet.id, cell(pet.name), pet.categoryId, pet.status].join(',')
  return isFirst ? `${HEADER}\n${line}` : line
}

/** Quotes a text that would otherwise end its cell (RFC 4180, section 2). */
function cell(text: string): string {
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/**
 * Writes lines to a new file, and waits while the disk is slower. Until its end, the file has another name: a part
 * of all animals would look complete.
 */
function toFile(path: string) {
  const draft = `${path}.partial`
  const stream = createWriteStream(draft)
  // Each later wait rejects with it.
  const failed = new Promise<never>((_, reject) => stream.on('error', reject))
  failed.catch(() => {})
  return {
    async write(text: string) {
      if (!stream.write(`${text}\n`)) await Promise.race([once(stream, 'drain'), failed])
    },
    async end() {
      const closed = new Promise<void>((resolve) => stream.on('close', resolve))
      stream.end()
      await Promise.race([closed, failed])
      renameSync(draft, path)
    },
  }
}
