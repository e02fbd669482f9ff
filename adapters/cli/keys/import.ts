import { codeOf } from '../../../src/errors.ts'
import type { AdoptOptions, Keys } from '../../../src/index.ts'
import { type Problem, pathText, problemsOf } from '../../../src/schemas/expected.ts'
import { adoptOptions } from '../../../src/schemas/key.ts'
import { innermostMessage } from '../../../src/support/describe-value.ts'
import { linesOf } from '../pets/files.ts'
import { checkEntries, type InputFile, withInput } from '../pets/input.ts'
import type { DatabaseFlags, PlanLimitsByName } from '../terminal/flags.ts'
import { apiKeys, print } from '../terminal/output.ts'
import { inBatches } from './batches.ts'
import { planProblem, withKeys } from './open.ts'

interface ImportFlags extends DatabaseFlags {
  readonly planLimits: PlanLimitsByName
}

/**
 * Runs `petstore keys import`. The file is read twice: first to find all wrong lines, and then to add
 * the keys. Memory is needed for a few keys only.
 */
export async function runKeysImport(file: string, { planLimits, ...database }: ImportFlags): Promise<void> {
  await withInput(file, async (input) => {
    const { valid, problems } = await checkEntries(input.name, keysOf(input, planLimits))
    if (problems.count > 0) {
      console.error(problems.lines.join('\n'))
      throw new Error(
        `${problems.count.toLocaleString('en')} of ${apiKeys(valid + problems.count)} cannot be added, so none was added: correct them`,
      )
    }
    await withKeys({ ...database, planLimits }, (keys) => add(keys, input, planLimits))
  })
}

async function add(keys: Keys, input: InputFile, planLimits: PlanLimitsByName): Promise<void> {
  let added = 0
  let existing = 0
  try {
    await inBatches(keysOf(input, planLimits), async ({ key, problem }) => {
      if (problem !== undefined) throw new Error(`${input.name} has changed during the import`)
      if (await addKey(keys, key)) added++
      else existing++
    })
  } catch (error) {
    throw new Error(
      `${innermostMessage(error)}. Added ${apiKeys(added)} before. Run the same command again: it adds only the keys that are missing.`,
    )
  }
  const left = existing === 0 ? '' : ` Left out ${apiKeys(existing)} whose tokens exist.`
  await print(`Added ${apiKeys(added)}.${left}`)
}

/** Returns false, and adds nothing, if a key has the token. */
async function addKey(keys: Keys, key: AdoptOptions): Promise<boolean> {
  try {
    await keys.issue(key)
    return true
  } catch (error) {
    if (codeOf(error) === 'key_exists') return false
    throw error
  }
}

/** A key of a file with its line, or what is wrong with it. */
type Parsed =
  | { readonly place: string; readonly key: AdoptOptions; readonly problem?: undefined }
  | { readonly place: string; readonly key?: undefined; readonly problem: string }

async function* keysOf({ path, name }: InputFile, planLimits: PlanLimitsByName): AsyncGenerator<Parsed, void> {
  try {
    let number = 0
    for await (const line of linesOf(path)) {
      number++
      if (line.trim() !== '') yield { place: `line ${number}`, ...parse(line, planLimits) }
    }
  } catch (error) {
    throw new Error(`${name}: ${innermostMessage(error)}`)
  }
}

/** Checks a line. No problem contains a value or an unknown name of it, which may be a token. */
function parse(line: string, planLimits: PlanLimitsByName) {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    return { problem: 'cannot be read as JSON' }
  }
  const { success, data: key, error } = adoptOptions.safeParse(value)
  if (!success) return { problem: [...new Set(problemsOf(error).map(textOf))].join('; ') }
  const problem = planProblem(key.plan, key.limits, planLimits)
  return problem === undefined ? { key } : { problem }
}

function textOf({ path, message, known }: Problem): string {
  // A file has no `Date`.
  const expected = message.replace(/, got .*$/s, '').replace('a Date, ', '')
  if (known === undefined) return path.length === 0 ? expected : `${pathText(path)}: ${expected}`
  // The last name of the path is the unknown one.
  const place = path.slice(0, -1)
  return `${place.length === 0 ? '' : `${pathText(place)}: `}expected no other members than ${known.join(', ')}`
}
