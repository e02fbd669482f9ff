import { parse } from 'lossless-json'
import { PetStoreError } from '../errors.ts'
import { isInt64, type Pet, petStatuses } from '../model.ts'
import { describeValue, JsonNumber } from '../support/describe-value.ts'
import { readableText } from '../support/readable-text.ts'
import { trimEndOf } from '../support/text.ts'

const MAX_DEPTH = 256
const MAX_REASON = 200
const QUOTE = 0x22
const BACKSLASH = 0x5c
/**
 * Created at its first use, because jsdom has no `TextDecoder`: a test with jsdom can then at least
 * import the package.
 */
let decoder: TextDecoder | undefined

/**
 * Parses JSON: an int64 becomes a `bigint`, any other number a {@link JsonNumber}.
 * @throws {PetStoreError} `malformed_json`
 */
export function readJson(json: string | Uint8Array, maxValues = Number.POSITIVE_INFINITY): unknown {
  // As `TextDecoder` does, ignore a byte order mark, with which some editors begin a file.
  const text = typeof json === 'string' ? json.replace(/^\ufeff/, '') : decode(json)
  const { depth, members, values } = outline(text)
  if (depth > MAX_DEPTH) throw malformed(`expected at most ${MAX_DEPTH} levels of nesting, got ${depth}`)
  if (values > maxValues) throw malformed(`expected a body of at most ${maxValues} JSON values, got ${values}`)
  return parsePlain(text, members) ?? parseExactly(text, members)
}

function decode(bytes: Uint8Array): string {
  decoder ??= new TextDecoder('utf-8', { fatal: true })
  try {
    return decoder.decode(bytes)
  } catch {
    throw malformed('expected UTF-8, got other bytes')
  }
}

/**
 * Matches JSON numbers that `JSON.parse` may round, or that have a fraction or exponent. May match
 * inside a string too.
 */
const NOT_PLAIN = /\d[.eE]|\d{16}/

/**
 * Parses a body with `JSON.parse`, which is faster. Returns `undefined` if {@link parseExactly}
 * must parse the body.
 */
export function parsePlain(text: string, members: number): unknown {
  if (NOT_PLAIN.test(text)) return undefined
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'number') return BigInt(value)
    return convertAndCount(value) === members ? value : undefined
  } catch {
    // The text is not valid JSON: `parseExactly` throws an error with a better message.
  }
  return undefined
}

/**
 * Converts numbers of `JSON.parse` to `bigint`, in place. Returns how many members all objects in
 * the value have.
 */
function convertAndCount(holder: unknown): number {
  if (typeof holder !== 'object' || holder === null || holder instanceof JsonNumber) return 0
  const values = holder as Record<string, unknown>
  const names = Object.keys(values)
  let members = Array.isArray(holder) ? 0 : names.length
  for (const name of names) {
    const value = values[name]
    if (typeof value === 'number') values[name] = BigInt(value)
    else members += convertAndCount(value)
  }
  return members
}

/**
 * Parses any body. Throws if the result has fewer than `members` members, because then a name is
 * repeated in the text.
 */
export function parseExactly(text: string, members: number): unknown {
  const value = parseText(text)
  if (convertAndCount(value) < members)
    throw malformed('expected each member name once in its object, got a repeated name')
  return value
}

function parseText(text: string): unknown {
  try {
    return parse(text, undefined, PARSE_OPTIONS)
  } catch (error) {
    // The message of the parser quotes names and numbers in full, which may be long or secret.
    throw malformed(readableText((error as SyntaxError).message, MAX_REASON))
  }
}

function malformed(why: string): PetStoreError {
  return new PetStoreError('malformed_json', `The body cannot be read as JSON: ${why}.`)
}

/**
 * Returns the depth of a JSON text, the number of members in its objects, and about how many values
 * it has: the number of commas, arrays and objects. The depth must be checked before
 * parsing: the parser is recursive and would exceed the stack. If the parsed value has fewer
 * members than the text, a name is repeated. The parser rejects this only if the values differ.
 */
function outline(text: string): { depth: number; members: number; values: number } {
  let depth = 0
  let deepest = 0
  let members = 0
  let values = 0
  let isString = false
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === QUOTE) isString = !isString
    else if (isString) i += code === BACKSLASH ? 1 : 0
    else if (code === 0x3a) members++
    else if (code === 0x2c) values++
    else if (code === 0x7b || code === 0x5b) {
      values++
      depth++
      deepest = Math.max(deepest, depth)
    } else if (code === 0x7d || code === 0x5d) depth--
  }
  return { depth: deepest, members, values }
}

const PARSE_OPTIONS = { parseNumber: readNumber }
type NumberParts = [all: string, sign: string, whole: string, fraction?: string, exponent?: string]
const NUMBER = /(-?)(\d+)(?:\.(\d+))?(?:[eE](.+))?/

/**
 * Returns a `bigint` if the value of a JSON number is an int64: `7`, `7.0` and `70e-1` are all 7.
 */
function readNumber(text: string): bigint | JsonNumber {
  const [, sign, whole, fraction = '', exponent = ''] = NUMBER.exec(text) as unknown as NumberParts
  const digits = (whole + fraction).replace(/^0+/, '')
  const significant = trimEndOf(digits, '0')
  if (significant === '') return 0n
  const zeros = Number(exponent) - fraction.length + digits.length - significant.length
  if (zeros < 0 || significant.length + zeros > 19) return new JsonNumber(text)
  const value = BigInt(sign + significant + '0'.repeat(zeros))
  return isInt64(value) ? value : new JsonNumber(text)
}

const NEEDS_ESCAPE = /[^ !#-[\]-~]/

/**
 * Returns a page of animals as JSON. Numbers of `JSON.stringify` would lose digits of ids above
 * 2^53-1.
 */
export function writePets(pets: readonly Pet[]): string {
  let text = ''
  // Unlike `map`, this loop does not skip the missing items of a sparse array, so `writePet` throws
  // for them.
  for (const pet of pets) text += (text === '' ? '' : ',') + jsonOf(pet)
  return `[${text}]`
}

/**
 * The place in an animal where its JSON is kept. It is not enumerable, so a copy by `{ ...pet }` does not have it. A
 * `WeakMap` with a million animals would make each garbage collection eight times as long.
 */
const KEPT = Symbol('json')

/** An animal that cannot change. Its JSON is written at the first page with it. */
interface FrozenPet extends Pet {
  readonly [KEPT]?: { json: string | undefined }
}

/** Freezes an animal, and gives it a place for its JSON. */
export function freezeWithJson(pet: Pet): Pet {
  return Object.freeze(Object.defineProperty(pet, KEPT, { value: { json: undefined } }))
}

function jsonOf(pet: FrozenPet | null | undefined): string {
  const kept = pet?.[KEPT]
  if (kept === undefined) return writePet(pet as Pet)
  kept.json ??= writePet(pet as Pet)
  return kept.json
}

/**
 * Returns an animal as JSON, and checks only what it writes. For a page of 20 animals, this takes
 * 9 µs. The schema `pet` would add 40 µs, more than a third of the CPU time of a list over HTTP.
 * A `PetStorage` in plain JavaScript may also return numbers for ids.
 * @throws {TypeError} if the storage has returned something else
 */
export function writePet(pet: Pet): string {
  const { id, name, categoryId, status } = pet ?? ({} as Pet)
  const idText = integer(id)
  const categoryText = integer(categoryId)
  const isValid = typeof name === 'string' && petStatuses.includes(status)
  if (isValid && idText !== undefined && categoryText !== undefined)
    // Not a template, which V8 would keep as a tree of its parts, with three times the memory.
    return [
      '{"id":',
      idText,
      ',"name":"',
      escapeQuotes(name),
      '","categoryId":',
      categoryText,
      ',"status":"',
      status,
      '"}',
    ].join('')
  const members = { id, name, categoryId, status } satisfies Record<keyof Pet, unknown>
  const received = Object.values(members).map(describeValue).join(', ')
  throw new TypeError(`storage: expected an animal with id, name, categoryId and status, got ${received}`)
}

/** Returns an exact integer as text. V8 converts numbers faster than `bigint`. */
function integer(value: unknown): string | undefined {
  const number = safeInteger(value)
  if (number !== undefined) return `${number}`
  return typeof value === 'bigint' ? String(value) : undefined
}

/**
 * Returns an integer of at most 2^53-1 as a number. Storages in plain JavaScript return numbers
 * instead of `bigint`.
 */
function safeInteger(value: unknown): number | undefined {
  const number = typeof value === 'bigint' ? Number(value) : value
  return Number.isSafeInteger(number) ? (number as number) : undefined
}

function escapeQuotes(text: string): string {
  return NEEDS_ESCAPE.test(text) ? JSON.stringify(text).slice(1, -1) : text
}
