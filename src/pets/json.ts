import { parse } from 'lossless-json'
import { PetStoreError } from '../errors.ts'
import { type Pet, petStatuses } from '../model.ts'
import { describe, JsonNumber } from '../support/describe-value.ts'

const DEEPEST = 256
const LONGEST_REASON = 200
const QUOTE = 0x22
const BACKSLASH = 0x5c
const INT64_MIN = -(2n ** 63n)
const INT64_MAX = 2n ** 63n - 1n
const decoder = new TextDecoder('utf-8', { fatal: true })

/** Whether an integer fits into 64 bits. */
export function isInt64(value: bigint): boolean {
  return value >= INT64_MIN && value <= INT64_MAX
}

/**
 * Reads a body as JSON: int64 numbers come as `bigint`, any other number as {@link JsonNumber}.
 *
 * @throws {PetStoreError} `malformed_json`
 */
export function readJson(bytes: Uint8Array): unknown {
  const text = decode(bytes)
  const { depth, members } = outline(text)
  if (depth > DEEPEST) throw malformed(`expected at most ${DEEPEST} levels of nesting, got ${depth}`)
  const value = parseText(text)
  if (countMembers(value) < members) throw malformed('expected every member name once in its object, got one repeated')
  return value
}

function decode(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch {
    throw malformed('expected UTF-8, got bytes that are not')
  }
}

function parseText(text: string): unknown {
  try {
    return parse(text, undefined, PARSE_OPTIONS)
  } catch (error) {
    // The parser shows names and numbers whole, and may stop at half a character.
    throw malformed(
      error instanceof SyntaxError ? error.message.slice(0, LONGEST_REASON).toWellFormed() : 'it cannot be read',
    )
  }
}

function malformed(why: string): PetStoreError {
  return new PetStoreError('malformed_json', `The body cannot be read as JSON: ${why}.`)
}

/**
 * The depth of a text's nesting, and the number of its members where it is well-formed.
 *
 * The parser recurses, so the depth must be known before it runs; and it lets a repeated name pass where both values are
 * equal, so the members are counted.
 */
function outline(text: string): { depth: number; members: number } {
  let depth = 0
  let deepest = 0
  let members = 0
  let isString = false
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === QUOTE) isString = !isString
    else if (isString) i += code === BACKSLASH ? 1 : 0
    else if (code === 0x3a) members++
    else if (code === 0x7b || code === 0x5b) deepest = Math.max(deepest, ++depth)
    else if (code === 0x7d || code === 0x5d) depth--
  }
  return { depth: deepest, members }
}

function countMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null || value instanceof JsonNumber) return 0
  const values = Object.values(value)
  let count = Array.isArray(value) ? 0 : values.length
  for (const inner of values) count += countMembers(inner)
  return count
}

const PARSE_OPTIONS = { parseNumber: readNumber }
/** Categories are few and have small numbers mostly: animals share them. */
const SMALL = new Map(Array.from({ length: 256 }, (_, i) => [String(i), BigInt(i)]))
const PLAIN = /^-?\d{1,18}$/

/** A JSON number as `bigint` where it is mathematically an int64: `7`, `7.0` and `70e-1` are all 7. */
function readNumber(text: string): bigint | JsonNumber {
  const small = SMALL.get(text)
  if (small !== undefined) return small
  if (PLAIN.test(text)) return BigInt(text)
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? []
  const digits = (whole + fraction).replace(/^0+/, '')
  const significant = trimZeros(digits)
  if (significant === '') return 0n
  const zeros = Number(exponent) - fraction.length + digits.length - significant.length
  if (zeros < 0 || significant.length + zeros > 19) return new JsonNumber(text)
  const value = BigInt(sign + significant + '0'.repeat(zeros))
  return isInt64(value) ? value : new JsonNumber(text)
}

function trimZeros(digits: string): string {
  let end = digits.length
  while (digits.charCodeAt(end - 1) === 0x30) end--
  return digits.slice(0, end)
}

const NEEDS_ESCAPE = /[^ !#-[\]-~]/

/** Writes an animal. @throws {TypeError} where a storage has given something else */
export function writePet(pet: Pet): string {
  const { id, name, categoryId, status } = Object(pet) as Pet
  if (!isPet(pet)) throw unexpected('id, name, categoryId, status', id, name, categoryId, status)
  const tail = status == null ? '}' : `,"status":${quote(status)}}`
  return `{"id":${integer(id)},"name":${quote(name)},"categoryId":${integer(categoryId)}${tail}`
}

/** What a storage should have given, and what came. */
export function unexpected(what: string, ...came: unknown[]): TypeError {
  return new TypeError(`storage: expected ${what}, got ${came.map(describe).join(', ')}`)
}

/** Whether a storage has really given an animal. Whole numbers will do where it is written in plain JavaScript. */
function isPet(pet: Partial<Pet> | null | undefined): boolean {
  return (
    isWhole(pet?.id) &&
    typeof pet?.name === 'string' &&
    isWhole(pet.categoryId) &&
    (pet.status == null || petStatuses.includes(pet.status))
  )
}

function isWhole(value: unknown): boolean {
  return typeof value === 'bigint' || Number.isSafeInteger(value)
}

/** Writes animals as an array: one flat string, as a rope of many pieces would be slow to measure and to send. */
export function writePets(pets: readonly Pet[]): string {
  return ['[', Array.from(pets, writePet).join(), ']'].join('')
}

/** Small integers are written faster as numbers. */
function integer(value: bigint): string {
  const number = Number(value)
  return Number.isSafeInteger(number) ? String(number) : String(value)
}

function quote(text: string): string {
  return NEEDS_ESCAPE.test(text) ? JSON.stringify(text) : `"${text}"`
}
