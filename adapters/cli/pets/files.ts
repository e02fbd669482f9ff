import { createReadStream } from 'node:fs'
import { extname } from 'node:path'
import { readJson } from '../../../src/pets/json.ts'
import { csvEntries } from './csv.ts'
import { type Entry, LONGEST, requireShort } from './entry.ts'

/** The formats of files with animals: a JSON array, a JSON object in each line, or CSV with a header line. */
export const FORMATS = ['json', 'jsonl', 'csv'] as const
export type PetsFormat = (typeof FORMATS)[number]

const FORMAT_OF: Readonly<Record<string, PetsFormat>> = {
  '.json': 'json',
  '.jsonl': 'jsonl',
  '.ndjson': 'jsonl',
  '.csv': 'csv',
}

/** Returns the format of a file by its name. Standard input and output have JSON lines. */
export function formatOf(file: string, given: PetsFormat | undefined): PetsFormat {
  const format = given ?? (file === '-' ? 'jsonl' : FORMAT_OF[extname(file).toLowerCase()])
  if (format !== undefined) return format
  throw new Error(`the format of ${file} is not known: give --format ${FORMATS.join(', ')}, or a name such as pets.csv`)
}

/** Reads a file entry by entry. Throws if the file as a whole cannot be read. */
export async function* readEntries(path: string, format: PetsFormat): AsyncGenerator<Entry, void> {
  if (format === 'csv') yield* csvEntries(textsOf(path))
  else if (format === 'json') yield* numbered('animal', elementsOf(textsOf(path)))
  else yield* numbered('line', linesOf(path))
}

/** Reads a file as UTF-8. A byte order mark, with which some editors begin a file, is left out. */
async function* textsOf(path: string): AsyncGenerator<string, void> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const decode = (bytes?: Uint8Array) => {
    try {
      return decoder.decode(bytes, { stream: bytes !== undefined })
    } catch {
      throw new Error('expected text in UTF-8, got other bytes')
    }
  }
  for await (const bytes of createReadStream(path)) yield decode(bytes as Uint8Array)
  yield decode()
}

/** Reads a file line by line. */
export async function* linesOf(path: string): AsyncGenerator<string, void> {
  let rest = ''
  for await (const text of textsOf(path)) {
    const lines = requireShort(rest + text).split('\n')
    rest = lines.pop() as string
    yield* lines
  }
  yield rest
}

/** Splits a JSON array into the texts of its elements, so that not all of them have to be in memory. */
async function* elementsOf(texts: AsyncIterable<string>): AsyncGenerator<string, void> {
  let place: 'before' | 'inside' | 'after' = 'before'
  let element = ''
  let elements = 0
  let depth = 0
  let isString = false
  let isEscaped = false
  for await (const text of texts)
    for (const char of text) {
      if (place !== 'inside') {
        if (place === 'before' && char === '[') place = 'inside'
        else if (!/\s/.test(char)) throw new Error(`expected one JSON array, got ${JSON.stringify(char)} ${place} it`)
        continue
      }
      if (isString) {
        isString = isEscaped || char !== '"'
        isEscaped = !isEscaped && char === '\\'
      } else if (char === '"') isString = true
      else if (char === '{' || char === '[') depth++
      else if (depth > 0 && (char === '}' || char === ']')) depth--
      else if (depth === 0 && (char === ',' || char === ']')) {
        if (char === ',' || elements > 0 || element.trim() !== '') yield element
        elements++
        element = ''
        if (char === ']') place = 'after'
        continue
      }
      element += char
      if (element.length > LONGEST) requireShort(element)
    }
  if (place !== 'after') throw new Error('expected a JSON array with an end: the file may be cut off')
}

/** Parses texts as JSON. Empty lines are left out, but counted. */
async function* numbered(unit: 'animal' | 'line', texts: AsyncIterable<string>): AsyncGenerator<Entry, void> {
  let number = 0
  for await (const text of texts) {
    number++
    if (unit === 'line' && text.trim() === '') continue
    const place = `${unit} ${number}`
    try {
      yield { place, value: readJson(text) }
    } catch (error) {
      const reason = (error as Error).message.replace('The body cannot be read as JSON: ', '')
      yield { place, problem: `cannot be read as JSON: ${reason}` }
    }
  }
}
