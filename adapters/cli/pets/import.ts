import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import type { Pet, Pets } from '../../../src/index.ts'
import { innermostMessage } from '../../../src/support/describe-value.ts'
import type { DatabaseFlags } from '../terminal/flags.ts'
import { animals, print } from '../terminal/output.ts'
import { showProgress } from '../terminal/progress.ts'
import { animalsOf, type Source } from './animals.ts'
import { breaks } from './breaks.ts'
import { formatOf, type PetsFormat } from './files.ts'
import { checkEntries, withInput } from './input.ts'
import { withPets } from './pets.ts'

export interface ImportFlags extends DatabaseFlags {
  readonly format?: PetsFormat
  readonly skipInvalid?: true
  readonly keepIds?: true
  readonly again?: string
}

/**
 * Runs `petstore pets import`. The file is read twice: first to find all wrong entries, and then to add
 * the animals. Memory is needed for a few animals only.
 */
export async function runImport(file: string, flags: ImportFlags): Promise<void> {
  const { format: given, skipInvalid, keepIds = false, again, ...database } = flags
  const format = formatOf(file, given)
  const ids = keepIds ? 'required' : 'ignored'
  await withInput(file, (input) => importFrom({ ...input, format, ids }))

  async function importFrom(source: Source): Promise<void> {
    const { valid, problems } = await checkEntries(source.name, animalsOf(source))
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

async function add(pets: Pets, source: Source, { total, once }: { total: number; once: string }) {
  let isInterrupted = false
  const interrupt = () => {
    isInterrupted = true
  }
  const progress = showProgress(total)
  const pause = breaks()
  let added = 0
  const validAnimals = async function* () {
    for await (const { pet } of animalsOf(source) as AsyncIterable<{ pet?: Pet }>) {
      if (isInterrupted) return
      if (pet === undefined) continue
      yield pet
      progress.count()
      added++
      await pause()
    }
    if (added !== total) throw new Error(`${source.name} has changed during the import`)
  }
  process.once('SIGINT', interrupt)
  try {
    const text =
      source.ids === 'required'
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

function howToGoOn({ ids, name }: Source): string {
  const input = name === 'standard input' ? ' with the same input' : ''
  const time = ids === 'required' ? '' : ' within 48 hours'
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
