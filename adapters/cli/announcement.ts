import { isPersistent } from './back-end.ts'
import type { AddedData } from './demo-data.ts'
import type { ServeFlags } from './flags.ts'
import { printable, shellWord } from './output.ts'

/** Returns one line of JSON about a started server, for a program that has started it. */
export function startReport(url: string, place: string, { animals, keys }: AddedData, control?: string): string {
  const tokens = Object.fromEntries(keys.map(({ key, token }) => [key.plan, token]))
  return JSON.stringify({ url, control, place, animals, keys: tokens })
}

export interface WelcomeOptions {
  readonly controlUrl?: string | undefined
  /** Whether the API reference is installed. */
  readonly hasReference: boolean
}

/** Returns the text that a server prints at its start, for a person. */
export function welcome(
  url: string,
  place: string,
  added: AddedData,
  flags: ServeFlags,
  { controlUrl: control, hasReference }: WelcomeOptions,
): string {
  const { animals = 0 } = added
  const kept = isPersistent(flags) ? `stored in ${place}` : `with ${animals} animals, in ${place}: gone when it ends`
  const addedAnimals = isPersistent(flags) && animals > 0 ? [`Added ${animals} demo animals.`] : []
  return [
    `Pet store on ${url}, ${kept}.`,
    `Open ${new URL('/', url)} in a browser to try it.`,
    ...(hasReference ? [] : ['Its API reference needs one more package: npm install swagger-ui-dist']),
    ...addedAnimals,
    ...(control === undefined ? [] : [`Control API on ${control}, described by ${control}/openapi.json.`]),
    '',
    ...aboutKeys(url, added, flags),
    '',
    'Ctrl-C ends it.',
  ].join('\n')
}

function aboutKeys(url: string, { keys, hasKeys }: AddedData, flags: ServeFlags): string[] {
  const { data, databaseUrl, key: fixed = [] } = flags
  const [first] = keys
  const place = data === undefined ? '--database-url <url>' : `--data ${shellWord(data)}`
  const commands = [`  petstore keys issue ${place} --plan pro`, ...(hasKeys ? [`  petstore keys list ${place}`] : [])]
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
      `  curl -i ${header} ${shellWord(`${pets}?limit=2`)}`,
      `  curl -i ${header} -H 'Content-Type: application/json' -d '{"name":"Tiger","categoryId":1}' ${shellWord(pets)}`,
    ]
  }
  if (fixed.length > 0) return [`API keys: those of --key (${fixed.map(({ plan }) => printable(plan)).join(', ')}).`]
  if (data === undefined && databaseUrl === undefined) return ['API keys: none.']
  return [hasKeys ? 'API keys:' : 'There is no API key yet. Issue one in another terminal:', ...commands]
}
