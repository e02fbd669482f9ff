import type { OptionRule } from '../../../src/support/option-rules.ts'

/** PostgreSQL cuts longer names without an error, so two different names could become equal. */
const NAME_BYTES = 63

/** The quoted names of the schema and of its tables, sequence and functions. */
export interface Names {
  readonly schema: string
  readonly versions: string
  readonly pets: string
  readonly petIds: string
  readonly keys: string
  readonly quota: string
  readonly anonymous: string
  readonly spend: string
  readonly spendAnonymous: string
  readonly createAll: string
  readonly addPets: string
  readonly durable: string
  readonly markInserted: string
  readonly serverRuns: string
  readonly skipWait: string
  readonly save: string
  readonly spendAll: string
  readonly spendAllAnonymous: string
}

/** The rule for the option `schema`. */
export const schemaRule: OptionRule = {
  expected: `a name of 1 to ${NAME_BYTES} bytes that does not begin with "pg_"`,
  check: isName,
}

/** Returns the quoted names for a schema. */
export function namesIn(schema: string): Names {
  const quoted = identifier(schema)
  return {
    schema: quoted,
    versions: `${quoted}.versions`,
    pets: `${quoted}.pets`,
    petIds: `${quoted}.pet_ids`,
    keys: `${quoted}.keys`,
    quota: `${quoted}.quota`,
    anonymous: `${quoted}.anonymous`,
    spend: `${quoted}.spend`,
    spendAnonymous: `${quoted}.spend_anonymous`,
    createAll: `${quoted}.create_all`,
    addPets: `${quoted}.add_pets`,
    durable: `${quoted}.durable`,
    markInserted: `${quoted}.mark_inserted`,
    serverRuns: `${quoted}.server_runs`,
    skipWait: `${quoted}.skip_wait`,
    save: `${quoted}.save`,
    spendAll: `${quoted}.spend_all`,
    spendAllAnonymous: `${quoted}.spend_all_anonymous`,
  }
}

function isName(name: unknown): boolean {
  if (typeof name !== 'string' || name === '' || name.startsWith('pg_')) return false
  return name.isWellFormed() && !name.includes('\u0000') && new TextEncoder().encode(name).length <= NAME_BYTES
}

function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** Returns a dollar-quoted text, with a tag that the text does not contain. */
export function dollarQuoted(text: string, name: string): string {
  let tag = `$${name}$`
  while (text.includes(tag)) tag = tag.replace(/\$$/, '_$')
  return tag + text + tag
}

/** Returns a string literal that is valid with every setting of `standard_conforming_strings`. */
export function literal(text: string): string {
  const quoted = `'${text.replaceAll("'", "''").replaceAll('\\', '\\\\')}'`
  return text.includes('\\') ? `E${quoted}` : quoted
}
