import { escapeHidden } from '../../../src/support/readable-text.ts'
import type { Fault } from '../../../src/testing/store/fault-list.ts'
import { isPersistent } from '../engines/back-end.ts'
import { faultText } from '../faults/faults.ts'
import type { ServeFlags } from '../terminal/flags.ts'
import { printable, shellWord } from '../terminal/output.ts'
import type { AddedData } from './demo-data.ts'

/**
 * URLs. Those of the page and of the control API contain a secret, unless it is the one of
 * `--control-secret`.
 */
export interface Addresses {
  readonly api: string
  readonly page: string
  readonly control?: string | undefined
}

/** Returns one line of JSON, for a program that has started the server. */
export function startJson(
  { api: url, page, control }: Addresses,
  storedIn: string,
  { animals, keys }: AddedData,
  faults: readonly Fault[] = [],
): string {
  const tokens = Object.fromEntries(keys.map(({ key, token }) => [key.plan, token]))
  const faultSeed = faults.find(({ seed }) => seed !== undefined)?.seed
  return escapeHidden(JSON.stringify({ url, page, control, storedIn, animals, keys: tokens, faultSeed }))
}

export function startText(
  addresses: Addresses,
  storedIn: string,
  added: AddedData,
  flags: ServeFlags,
  faults: readonly Fault[] = [],
): string {
  const { api: url, page, control } = addresses
  const { animals = 0 } = added
  const given = flags.controlSecret === undefined ? '' : '/<the secret of --control-secret>'
  const kept = isPersistent(flags)
    ? `stored in ${storedIn}`
    : `with ${animals} animals, in ${storedIn} until the server ends`
  const addedAnimals = isPersistent(flags) && animals > 0 ? [`Added ${animals} demo animals.`] : []
  return [
    `Pet store on ${url}, ${kept}.`,
    `Open ${page} in a browser to try it.`,
    ...addedAnimals,
    ...(control === undefined ? [] : [`Control API on ${control}${given} (GET /openapi.json describes it).`]),
    ...faults.map((fault) => `Fault on purpose: ${faultText(fault)}.`),
    '',
    ...aboutKeys(url, added, flags),
    '',
    'Ctrl-C ends it.',
  ]
    .map(escapeHidden)
    .join('\n')
}

function aboutKeys(url: string, { keys }: AddedData, flags: ServeFlags): string[] {
  const { data, databaseUrl, key: fixed = [] } = flags
  const [first] = keys
  const databaseFlag = data === undefined ? '--database-url <url>' : `--data ${shellWord(data)}`
  const commands = [`  petstore keys issue ${databaseFlag} --plan pro`, `  petstore keys list ${databaseFlag}`]
  if (first !== undefined) {
    const width = Math.max(...keys.map(({ key }) => key.plan.length))
    const pets = `${url}/pets`
    const header = `-H 'Authorization: Bearer ${first.token}'`
    return [
      'API keys, one for each plan:',
      ...keys.map(({ key, token }) => `  ${key.plan.padEnd(width)}  ${token}`),
      ...(isPersistent(flags) ? ['They are shown only this once.'] : []),
      '',
      'Try it:',
      `  curl -i -w '\\n' ${header} ${shellWord(`${pets}?limit=2`)}`,
      `  curl -i -w '\\n' ${header} -H 'Content-Type: application/json' -d '{"name":"Tiger","categoryId":1}' ${shellWord(pets)}`,
    ]
  }
  if (fixed.length > 0) return [`API keys: those of --key (${fixed.map(({ plan }) => printable(plan)).join(', ')}).`]
  if (data === undefined && databaseUrl === undefined) return ['API keys: none.']
  return ['Issue and list API keys in another terminal:', ...commands]
}
