import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type * as z from 'zod/mini'
import type { Pet, PetMembers, Pets } from '../../../src/index.ts'
import { problemText } from '../../../src/schemas/expected.ts'
import { hostPetSchemas } from '../../../src/schemas/host-pets.ts'
import { innermostMessage } from '../../../src/support/describe-value.ts'
import { sleep, systemClock } from '../../../src/support/time.ts'
import type { DatabaseFlags } from '../terminal/flags.ts'
import { animals, print, printable } from '../terminal/output.ts'
import { type Entry, formatOf, type PetsFormat, readEntries } from './files.ts'
import { withPets } from './pets.ts'

export interface ImportFlags extends DatabaseFlags {
  readonly format?: PetsFormat
  readonly skipInvalid?: true
  readonly keepIds?: true
  readonly again?: string
}

interface Source {
  readonly path: string
  /** The name for messages. */
  readonly name: string
  readonly format: PetsFormat
  readonly keepIds: boolean
}

/**
 * Runs `petstore pets import`. The file is read twice: first to find all wrong entries, and then to add
 * the animals. Memory is needed for a few animals only.
 */
export async function runImport(file: string, flags: ImportFlags): Promise<void> {
  const { format: given, skipInvalid, keepIds = false, again, ...database } = flags
  const format = formatOf(file, given)
  if (file !== '-' && !existsSync(file)) throw new Error(`there is no file ${file}`)
  if (file !== '-' && statSync(file).isFile()) return importFrom({ path: file, name: file, format, keepIds })
  // A pipe can be read only once.
  const folder = mkdtempSync(join(tmpdir(), 'petstore-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const stop = () => process.exit(130)
  process.once('SIGINT', stop)
  try {
    const path = join(folder, 'input')
    await pipeline(file === '-' ? process.stdin : createReadStream(file), createWriteStream(path))
    process.off('SIGINT', stop)
    await importFrom({ path, name: file === '-' ? 'standard input' : file, format, keepIds })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }

  async function importFrom(source: Source): Promise<void> {
    const { valid, problems } = await check(source)
    if (problems.count > 0) {
      console.error(problems.lines.join('\n'))
      const wrong = `${number(problems.count)} of ${animals(valid + problems.count)} cannot be added`
      if (!skipInvalid) throw new Error(`${wrong}, so none was added: correct them, or give --skip-invalid`)
      console.error(
        `${wrong}, and are left out. Put them into another file: a corrected copy would add all others again.`,
      )
    }
    const once = `import ${await hashOf(source.path)}${again === undefined ? '' : ` ${again}`}`
    await withPets(database, (pets) => add(pets, source, { total: valid, once }))
  }
}

const number = (value: number) => value.toLocaleString('en')

/** The SHA-256 of a file, which is in the idempotency keys of its animals. */
async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const bytes of createReadStream(path)) hash.update(bytes as Uint8Array)
  return hash.digest('hex')
}

const schemas = hostPetSchemas({})

/** Reads all animals of a file, each with its place, or with what is wrong with it. */
async function* animalsOf({ path, name, format, keepIds }: Source) {
  const read = async function* () {
    try {
      yield* readEntries(path, format)
    } catch (error) {
      throw new Error(`${name}: ${innermostMessage(error)}`)
    }
  }
  for await (const entry of read()) yield { place: entry.place, ...(keepIds ? withId(entry) : withoutId(entry)) }
}

type Parsed<T> = { readonly pet: T; readonly problem?: undefined } | { readonly problem: string }

function withoutId(entry: Entry): Parsed<PetMembers> {
  if (entry.problem !== undefined) return { problem: entry.problem }
  const { value } = entry
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return parsed(schemas.newPet, value)
  const { id: _, ...members } = value as Partial<Pet>
  return parsed(schemas.newPet, members)
}

function withId(entry: Entry): Parsed<Pet> {
  if (entry.problem !== undefined) return { problem: entry.problem }
  const result = parsed<readonly Pet[]>(schemas.restored, [entry.value])
  if (result.problem !== undefined) return { problem: result.problem.replaceAll(/\[0\]\.?/g, '').replace(/^: /, '') }
  return { pet: result.pet[0] as Pet }
}

function parsed<T>(schema: z.ZodMiniType<T>, value: unknown): Parsed<T> {
  const result = schema.safeParse(value)
  if (result.success) return { pet: result.data }
  // A file has no bigint.
  return { problem: problemText(result.error).replaceAll(', above 2^53-1 as a bigint such as 7n', '') }
}

/** How many wrong entries are printed. */
const SHOWN = 20

async function check(source: Source) {
  const lines: string[] = []
  let valid = 0
  let count = 0
  for await (const { place, problem } of animalsOf(source)) {
    if (problem === undefined) valid++
    else if (++count <= SHOWN) lines.push(printable(`${source.name}, ${place}: ${problem}`))
  }
  if (count > SHOWN) lines.push(`and ${number(count - SHOWN)} more`)
  return { valid, problems: { count, lines } }
}

async function add(pets: Pets, source: Source, { total, once }: { total: number; once: string }) {
  let isInterrupted = false
  const interrupt = () => {
    isInterrupted = true
  }
  const progress = showProgress(total)
  const breaks = leaveTime()
  let added = 0
  const validAnimals = async function* () {
    for await (const { pet } of animalsOf(source) as AsyncIterable<{ pet?: Pet }>) {
      if (isInterrupted) return
      if (pet === undefined) continue
      yield pet
      progress.count()
      added++
      await breaks.next()
    }
    if (added !== total) throw new Error(`${source.name} has changed during the import`)
  }
  process.once('SIGINT', interrupt)
  try {
    const text = source.keepIds
      ? await restoreAll(pets, validAnimals())
      : addedText(await pets.addAll(validAnimals(), { once }), isInterrupted)
    progress.end()
    await print(text)
  } catch (error) {
    progress.end()
    throw new Error(`${innermostMessage(error)}. ${howToGoOn(source)}`)
  } finally {
    process.off('SIGINT', interrupt)
  }
  if (isInterrupted) {
    console.error(`petstore: interrupted. ${howToGoOn(source)}`)
    process.exitCode = 130
  }
}

function howToGoOn({ keepIds, name }: Source): string {
  const input = name === 'standard input' ? ' with the same input' : ''
  const time = keepIds ? '' : ' within 48 hours'
  return `Run the same command again${input}${time}: it adds only the animals that are missing.`
}

function addedText({ added, repeated }: { added: number; repeated: number }, isInterrupted: boolean): string {
  const text = `Added ${animals(added)}.`
  if (repeated === 0) return text
  const hint = added === 0 && !isInterrupted ? ' To add them once more, give --again with a name.' : ''
  return `${text} ${animals(repeated)} of this file ${repeated === 1 ? 'was' : 'were'} added within the last 48 hours.${hint}`
}

const RESTORED_AT_ONCE = 500

async function restoreAll(pets: Pets, given: AsyncIterable<Pet>): Promise<string> {
  let added = 0
  let existing = 0
  const examples: bigint[] = []
  const restore = async (batch: readonly Pet[]) => {
    const left = await pets.restore(batch)
    existing += left.length
    added += batch.length - left.length
    examples.push(...left.slice(0, Math.max(0, 5 - examples.length)))
  }
  const batch = new Map<bigint, Pet>()
  const flush = async () => {
    if (batch.size > 0) await restore([...batch.values()])
    batch.clear()
  }
  for await (const pet of given) {
    // An id that the file has twice exists after the first animal with it.
    if (batch.size === RESTORED_AT_ONCE || batch.has(pet.id)) await flush()
    batch.set(pet.id, pet)
  }
  await flush()
  const text = `Added ${animals(added)} with the ids of the file.`
  if (existing === 0) return text
  const list = examples.join(', ') + (existing > examples.length ? ', …' : '')
  return `${text} Left out ${animals(existing)} whose ids exist: ${list}`
}

/** How many animals are added before others may write. */
const BETWEEN_BREAKS = 500

/** Waits as long as the last animals took: a server on the same file writes a count for each request. */
function leaveTime() {
  let count = 0
  let startedAt = systemClock.monotonic()
  return {
    async next(): Promise<void> {
      if (++count % BETWEEN_BREAKS !== 0) return
      await sleep(Math.min(1_000, systemClock.monotonic() - startedAt))
      startedAt = systemClock.monotonic()
    },
  }
}

/** Shows on a terminal how many animals are added, how fast, and how long the rest will take. */
function showProgress(total: number) {
  const { stderr } = process
  const startedAt = systemClock.monotonic()
  let shownAt = startedAt
  let done = 0
  const show = (now: number) => {
    const rate = (done * 1_000) / Math.max(1, now - startedAt)
    const rest = Math.ceil((total - done) / Math.max(1, rate))
    stderr.write(`\r${number(done)} of ${animals(total)}, ${number(Math.round(rate))} per second, ${rest} s left   `)
  }
  return {
    count(): void {
      done++
      if (!stderr.isTTY || done % 100 !== 0) return
      const now = systemClock.monotonic()
      if (now - shownAt < 200) return
      shownAt = now
      show(now)
    },
    end(): void {
      if (stderr.isTTY && shownAt > startedAt) stderr.write('\r\u001b[K')
    },
  }
}
