import { pipeline, Readable } from 'node:stream'
import { type Options, parse } from 'csv-parse'
import { type Entry, LONGEST } from './entry.ts'

/** The columns of a CSV file. `id` and `status` may be missing. */
const COLUMNS = ['id', 'name', 'categoryId', 'status']

interface CsvRecord {
  readonly record: readonly string[]
  readonly info: { readonly lines: number }
}

/** Reads CSV (RFC 4180) with a header line. */
export async function* csvEntries(texts: AsyncIterable<string>): AsyncGenerator<Entry, void> {
  const options = {
    info: true,
    // By default, the first line break of a file would be the only one: others would be a part of a name.
    record_delimiter: ['\r\n', '\n', '\r'],
    skip_empty_lines: true,
    relax_column_count: true,
    // A quote inside a value is a part of it, as in `7" Max`.
    relax_quotes: true,
    max_record_size: LONGEST,
  } satisfies Options
  // Errors of both streams end the loop.
  const records = pipeline(Readable.from(texts), parse(options), () => {})
  let columns: readonly string[] | undefined
  /** The parser counts a line break of two characters in a value as two lines. */
  let countedTwice = 0
  try {
    for await (const { record, info } of records as AsyncIterable<CsvRecord>) {
      if (columns === undefined) columns = headerOf(record)
      else {
        for (const text of record) countedTwice += text.split('\r\n').length - 1
        yield csvEntry(columns, record, info.lines - countedTwice)
      }
    }
  } catch (error) {
    // The message of the parser says the line.
    throw new Error((error as Error).message)
  }
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
