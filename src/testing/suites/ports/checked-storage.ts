import { INT64_MAX, isInt64, type NewPet, type Pet, type PetStatus } from '../../../model.ts'
import { fingerprintOf, KEY_PERIOD, keyText } from '../../../pets/idempotency.ts'
import type { CreatedPet, Idempotency, PetQuery, PetStorage } from '../../../ports.ts'
import { REX } from './arbitraries.ts'
import { listFirst, show } from './report.ts'
import type { Session } from './runner.ts'

/** A storage whose results are compared with those of a plain list. */
export type CheckedStorage = Awaited<ReturnType<typeof checkedStorage>>

export type CallWithKey = { readonly pet?: NewPet } & Partial<Pick<Idempotency, 'scope' | 'key'>>

export async function checkedStorage(session: Session<PetStorage>) {
  const { port, steps, now } = session
  /** The animals that the storage must have, by ascending id. */
  const pets: Pet[] = []
  /** The animal that each idempotency key has added, and when the key expires. */
  const uses = new Map<string, { readonly pet: Pet; readonly endsAt: number }>()

  const [old] = await read({ limit: 1 })
  steps.check(!old, `a new storage has animal ${old?.id}: open() must return an empty one`, 'no animal', old)
  steps.forget()

  async function create(pet: NewPet): Promise<Pet> {
    const before = pets.at(-1)?.id
    const call = () => port().create(pet)
    const created = await steps.call(`create(${show(pet)})`, call, 'create adds any valid animal', showPet)
    return add(pet, created, before)
  }

  /**
   * Checks an animal that the storage has added, and that its id is above `before`. Adds the animal
   * to `pets`.
   */
  function add(pet: NewPet, created: CreatedPet, before: bigint | undefined): Pet {
    const check = (holds: boolean, what: string, expected: unknown, received: unknown = created) =>
      steps.check(holds, `create returned ${what}`, expected, received)
    const isObject = typeof created === 'object' && created !== null
    check(isObject, `${show(created)}: create must return the new animal`, { id: 1n, ...pet })
    const { id } = created
    check(typeof id === 'bigint', `the id ${show(id)}, a ${typeof id}: an id is a bigint`, 'an id such as 1n')
    check(isInt64(id), `the id ${id}: an id is an int64`, `an id from 1 to ${INT64_MAX}`)
    check(id >= 1n, `the id ${id}: the smallest id is 1`, 'an id of at least 1n')
    const expected = { id, ...pet }
    steps.checkEqual('create returned an animal', created, expected)
    const isNew = pets.every((other) => other.id !== id)
    check(isNew, `id ${id} twice: each animal has an id of its own`, 'a new id', id)
    const isLater = before === undefined || id > before
    check(isLater, `id ${id} after id ${before}: ids must ascend`, `an id above ${before}n`, id)
    pets.push(expected)
    pets.sort((a, b) => (a.id < b.id ? -1 : 1))
    return expected
  }

  /** Makes `times` equal calls at the same time, and accepts their results in any order. */
  async function createWithKey({ pet = REX, scope = 'account:acme', key = 'order-1' }: CallWithKey = {}, times = 1) {
    const idempotency = { scope, key, fingerprint: fingerprintOf(pet) }
    const call = () =>
      steps.call(
        `create(${show(pet)}) with key ${show(key)} of ${show(scope)}`,
        () => port().create(pet, { idempotency }),
        'create accepts any idempotency key',
        (result) => `${show(result?.id)}${result?.earlier == null ? '' : `, earlier ${show(result.earlier)}`}`,
      )
    const before = pets.at(-1)?.id
    const results = await Promise.all(Array.from({ length: times }, call))
    const isNew = (result: CreatedPet) => result?.earlier == null
    const count = results.filter(isNew).length
    steps.check(
      times === 1 || count === 1,
      `create added ${count} animals for ${times} concurrent calls with one key: a key adds one animal`,
      '1 result without the member `earlier`',
      `${count} results without the member \`earlier\``,
    )
    const name = keyText(idempotency)
    for (const result of results.sort((a, b) => Number(isNew(b)) - Number(isNew(a)))) {
      const use = uses.get(name)
      if (use !== undefined && now() < use.endsAt) {
        checkRepeat(pet, use.pet, result)
      } else {
        const rule = use ? 'idempotency keys expire after 48 hours' : 'no earlier call of this scope has this key'
        const sentence = `create returned an animal with { earlier: ${show(result?.earlier)} }: ${rule}`
        steps.check(isNew(result), sentence, { id: (before ?? 0n) + 1n, ...pet }, result)
        const added = add(pet, result && { ...result, earlier: undefined }, before)
        uses.set(name, { pet: added, endsAt: now() + KEY_PERIOD })
      }
    }
  }

  /**
   * Checks the result of a call if an earlier call with the same key has added the animal `first`.
   */
  function checkRepeat(pet: NewPet, first: Pet, result: CreatedPet): void {
    const isSame = fingerprintOf(pet) === fingerprintOf(first)
    const expected = { ...pet, id: first.id, earlier: isSame ? 'same' : 'different' }
    const check = (holds: boolean, what: string) => steps.check(holds, `create ${what}`, expected, result)
    const forKey = `for a key that has added animal ${first.id}`
    check(result?.earlier != null, `added animal ${result?.id} ${forKey}: within 48 hours, a key adds one animal`)
    const rule = isSame ? 'both calls have the same fingerprint' : 'the fingerprints differ'
    check(result.earlier === expected.earlier, `returned an animal with { earlier: ${show(result.earlier)} }: ${rule}`)
    check(result.id === first.id, `returned the id ${show(result.id)} ${forKey}`)
    if (isSame) steps.checkEqual('create returned an animal', result, expected)
  }

  async function get(id: bigint): Promise<void> {
    const text = `get(${id}n)`
    const expected = pets.find((pet) => pet.id === id)
    const rule = expected ? 'create has returned this animal' : 'for an unknown id, get must return undefined or null'
    checkFound(text, await steps.call(text, () => port().get(id), rule, showPet), expected)
  }

  function checkFound(text: string, found: Pet | null | undefined, expected: Pet | undefined): void {
    const check = (holds: boolean, what: string) =>
      steps.check(holds, `${text} returned ${what}`, expected ?? 'undefined or null', found)
    if (found == null) {
      check(!expected, `${found}: animal ${expected?.id} was lost, although create had returned it`)
      return
    }
    check(expected !== undefined, `${showPet(found)}: for an unknown id, get must return undefined or null`)
    check(typeof found === 'object', `${showPet(found)}: get must return the animal`)
    check(found.id === expected?.id, `${showPet(found)}: get must return the animal with this id`)
    steps.checkEqual(`${text} returned animal ${found.id}`, found, { ...expected })
  }

  /** Reads one page, and checks the rules that concern this page alone. */
  async function read(query: PetQuery): Promise<readonly Pet[]> {
    const text = `list(${show(query)})`
    const showPage = (page: readonly Pet[]) => (Array.isArray(page) ? showIds(page) : show(page))
    const page = await steps.call(text, () => port().list(query), 'list must return an array, maybe empty', showPage)
    const shown = showPage(page)
    steps.check(Array.isArray(page), `${text} returned ${shown}: list must return an array`, 'an array', shown)
    const { after, limit, status } = query
    const check = (holds: boolean, part: Partial<PetQuery>, what: string, expected: string) =>
      steps.check(holds, `list(${show(part)}) returned ${what}`, expected, shown)
    const wrong = page.findIndex((pet: Pet) => typeof pet?.id !== 'bigint')
    check(wrong < 0, query, `${show(page[wrong])}: the id of an animal must be a bigint`, 'animals with ids such as 1n')
    page.forEach((pet, i) => {
      const name = showPet(pet)
      const idRule = pet.id === after ? 'after is exclusive' : 'list must return only ids above `after`'
      check(after === undefined || pet.id > after, { after }, `${name}: ${idRule}`, `only ids above ${after}n`)
      const has = pet.status === undefined ? 'without a status' : `with status ${show(pet.status)}`
      const rule = `${name} ${has}: list returns only animals with the status of the query`
      check(matches(pet, status), { status }, rule, `only ${status} animals`)
      const before = page[i - 1]
      const order = pet.id === before?.id ? 'twice' : `after ${showPet(before)}: ids must ascend`
      const ascends = before === undefined || pet.id > before.id
      check(ascends, query, `${name} ${order}`, 'each animal once, by ascending id')
    })
    const rule = `${page.length} animals: a page must not exceed its limit`
    check(page.length <= limit, { limit }, rule, `at most ${limit} animals`)
    return page
  }

  /** Reads one page, by default with all animals, and compares it with `pets`. */
  async function list(query: PetQuery = { limit: pets.length + 1 }): Promise<readonly Pet[]> {
    const text = `list(${show(query)})`
    const page = await read(query)
    const expected = expectedPage(pets, query)
    const index = expected.findIndex(({ id }) => !page.some((pet) => pet.id === id))
    const missing = expected[index]
    if (missing) await get(missing.id)
    const unknown = page.find(({ id }) => !pets.some((pet) => pet.id === id))
    const stranger = `${text} returned ${showPet(unknown)}, which create has never returned`
    steps.check(!unknown, stranger, showIds(expected), showIds(page))
    const isFull = page.length >= expected.length
    const rule = isFull ? 'a page must have the smallest ids that match' : 'a page is full unless no more animals match'
    const from = Math.max(0, index - 2)
    const sentence = `${text} left out animal ${missing?.id}: ${rule}`
    steps.check(!missing, sentence, showIds(expected, from), showIds(page, from))
    for (const [i, pet] of page.entries()) checkFound(text, pet, expected[i])
    return page
  }

  return {
    ...session,
    pets,
    create,
    createWithKey,
    get,
    read,
    checkFound,
    list,
    /** Opens the storage again, and checks that it still has the animals. */
    async reopen(): Promise<void> {
      await session.reopen()
      for (const { id } of pets) await get(id)
      await list()
    },
  }
}

function expectedPage(pets: readonly Pet[], { limit, after, status }: PetQuery): Pet[] {
  const matching = pets.filter((pet) => (after === undefined || pet.id > after) && matches(pet, status))
  return matching.slice(0, limit)
}

export function matches(pet: Pet, status: PetStatus | undefined): boolean {
  return status === undefined || pet.status === status
}

/** Returns the ids of the animals from the index `from`, as text. */
export function showIds(pets: readonly Pet[], from = 0): string {
  if (pets.length === 0) return 'no animals'
  const ids = pets.slice(from).map((pet) => show(pet?.id).replace(/n$/, ''))
  return `${pets.length === 1 ? 'animal' : 'animals'} ${from > 0 ? '…, ' : ''}${listFirst(ids)}`
}

function showPet(pet: Pet | null | undefined): string {
  return typeof pet === 'object' && pet !== null && 'id' in pet ? `animal ${pet.id}` : show(pet)
}
