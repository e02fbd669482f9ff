import { createReadStream } from 'node:fs'
import { extname } from 'node:path'
import { pipeline, Readable } from 'node:stream'
import { type CsvError, type Options, parse } from 'csv-parse'
import type { InitialPet } from '../../../src/index.ts'
import { readJson } from '../../../src/pets/json.ts'

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

/** An entry of a file: its place for messages, and its value, or why it cannot be read. */
export type Entry =
  | { readonly place: string; readonly value: unknown; readonly problem?: undefined }
  | { readonly place: string; readonly problem: string }

/** Reads a file entry by entry. Throws if the file as a whole cannot be read. */
export async function* readEntries(path: string, format: PetsFormat): AsyncGenerator<Entry, void> {
  const texts = textsOf(path)
  if (format === 'csv') yield* csvEntries(texts)
  else if (format === 'json') yield* numbered('animal', elementsOf(texts))
  else yield* numbered('line', linesOf(texts))
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

/** The longest entry, in UTF-16 code units. A file without line breaks would fill the memory. */
const LONGEST = 1_048_576

function requireShort(text: string): string {
  if (text.length <= LONGEST) return text
  throw new Error(`expected entries of at most ${LONGEST.toLocaleString('en')} characters: is this the right format?`)
}

async function* linesOf(texts: AsyncIterable<string>): AsyncGenerator<string, void> {
  let rest = ''
  for await (const text of texts) {
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

/** The columns of a CSV file. `id` and `status` may be missing. */
const COLUMNS = ['id', 'name', 'categoryId', 'status']

interface CsvRecord {
  readonly record: readonly string[]
  readonly info: { readonly lines: number }
}

async function* csvEntries(texts: AsyncIterable<string>): AsyncGenerator<Entry, void> {
  /** The lines with a quote that ends with its line, so that the next line can be read. */
  const misquoted: number[] = []
  const options = {
    info: true,
    // By default, the first line break of a file would be the only one: others would be a part of a name.
    record_delimiter: ['\r\n', '\n', '\r'],
    skip_empty_lines: true,
    relax_column_count: true,
    max_record_size: LONGEST,
    skip_records_with_error: true,
    on_skip(error?: CsvError) {
      if (error?.code !== 'INVALID_OPENING_QUOTE') throw error
      const line = Number(error.lines)
      if (misquoted.at(-1) !== line) misquoted.push(line)
    },
  } satisfies Options
  // Errors of both streams end the loop.
  const records = pipeline(Readable.from(texts), parse(options), () => {})
  let columns: readonly string[] | undefined
  /** The parser counts a line break of two characters in a value as two lines. */
  let countedTwice = 0
  function* misquotedBefore(line: number): Generator<Entry> {
    while ((misquoted[0] ?? line) < line) yield misquotedEntry((misquoted.shift() as number) - countedTwice)
  }
  try {
    for await (const { record, info } of records as AsyncIterable<CsvRecord>) {
      if (columns === undefined) columns = headerOf(record)
      else {
        yield* misquotedBefore(info.lines)
        for (const text of record) countedTwice += text.split('\r\n').length - 1
        yield csvEntry(columns, record, info.lines - countedTwice)
      }
    }
    yield* misquotedBefore(Number.POSITIVE_INFINITY)
  } catch (error) {
    // The message of the parser says the line.
    throw new Error((error as Error).message)
  }
}

function misquotedEntry(line: number): Entry {
  return { place: `line ${line}`, problem: 'a value with a quote must be in quotes, as in "Ada ""the cat"""' }
}

function headerOf(record: readonly string[]): readonly string[] {
  const names = record.map((name) => name.trim())
  const isKnown = names.every((name, i) => COLUMNS.includes(name) && names.indexOf(name) === i)
  if (isKnown && names.includes('name') && names.includes('categoryId')) return names
  throw new Error(
    `line 1: expected the columns name and categoryId, and perhaps id and status, got ${JSON.stringify(names.join(','))}`,
  )
}

function csvEntry(columns: readonly string[], record: readonly string[], line: number): Entry {
  const place = `line ${line}`
  if (record.length !== columns.length)
    return { place, problem: `expected ${columns.length} values, got ${record.length}` }
  const cells = columns.map((name, i) => [name, record[i] as string] as const)
  // An empty cell is an absent value, but an empty name is a wrong name.
  const given = cells.filter(([name, text]) => text !== '' || name === 'name')
  return { place, value: Object.fromEntries(given.map(([name, text]) => [name, cellValue(name, text)])) }
}

function cellValue(column: string, text: string): string | bigint {
  const isNumber = column === 'id' || column === 'categoryId'
  return isNumber && /^[+-]?\d{1,30}$/.test(text.trim()) ? BigInt(text.trim().replace('+', '')) : text
}

/** Reads all animals of a file. Throws for the first entry that cannot be read; the store checks the values. */
export async function readPets(path: string): Promise<readonly InitialPet[]> {
  const pets: InitialPet[] = []
  try {
    for await (const entry of readEntries(path, formatOf(path, undefined))) {
      if (entry.problem !== undefined) throw new Error(`${entry.place}: ${entry.problem}`)
      pets.push(entry.value as InitialPet)
    }
  } catch (error) {
    throw new Error(`--pets: ${path}: ${(error as Error).message}`)
  }
  return pets
}
