import { INT64_MAX, type Pet, type PetChanges, type PetMembers } from '../../../model.ts'
import { fingerprintOf } from '../../../pets/idempotency.ts'
import type { ChangeOptions, CreatedPet, PetQuery, PetStorage } from '../../../ports.ts'
import { broken, equal, show } from './report.ts'
import { callText, type Store } from './suite.ts'
import { REX } from './values.ts'

export type Storage = Store<PetStorage>

/** Returns the animals that `list` must return. */
export function pageOf(pets: readonly Pet[], { limit, after, status }: PetQuery): Pet[] {
  const matching = pets.filter((pet) => (after === undefined || pet.id > after) && (!status || pet.status === status))
  return matching.slice(0, limit)
}

/** How many ids a report shows. */
const SHOWN_IDS = 8

/**
 * Returns the ids of a page from the index `from`, as text; the page itself as code if it is no
 * array of animals.
 */
export function idsOf(page: unknown, from = 0): string {
  if (!Array.isArray(page) || page.some((pet) => pet?.id === undefined)) return show(page)
  if (page.length === 0) return 'no animals'
  const ids = page.slice(from, from + SHOWN_IDS).map(({ id }) => (typeof id === 'bigint' ? String(id) : show(id)))
  const more = page.length - from - ids.length
  return `animals ${from > 0 ? '..., ' : ''}${ids.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

/** Checks that two lists have equal animals. The error shows the ids around the first difference. */
export function samePets(text: string, received: readonly Pet[], expected: readonly Pet[]): void {
  const isArray = Array.isArray(received)
  const index = expected.findIndex(({ id }, i) => !isArray || received[i]?.id !== id)
  const isLonger = isArray && received.length > expected.length
  const from = Math.max(0, (index === -1 ? expected.length : index) - 2)
  if (index !== -1 || isLonger) broken(`${text}: wrong ids`, idsOf(expected, from), idsOf(received, from))
  equal(text, received, expected)
}

/** Reads a page, which must have these animals. */
export async function listReturns(store: Storage, query: PetQuery, expected: readonly Pet[]): Promise<void> {
  samePets(callText('list', [query]), await store.call('list', query), expected)
}

/** Checks the result of `create`. The id must be above `last`. */
export function checkAdded(given: PetMembers, created: CreatedPet | undefined, last = 0n): Pet {
  const id = created?.id as bigint
  const call = callText('create', [given])
  equal(call, created && { ...created, earlier: created.earlier ?? undefined }, { ...given, id })
  equal(`${call}: the type of the id ${show(id)}`, typeof id, 'bigint')
  equal(`${call}: whether the id ${id} is an int64 above all ids before (${last})`, id > last && id <= INT64_MAX, true)
  return { ...given, id }
}

/** Adds animals one after another. */
export async function add(store: Storage, ...pets: readonly PetMembers[]): Promise<Pet[]> {
  const added: Pet[] = []
  for (const pet of pets) added.push(checkAdded(pet, await store.call('create', pet, {}), added.at(-1)?.id))
  return added
}

/** Adds animals at once, which must get different ids above `last`. */
export async function addAtOnce(store: Storage, pets: readonly PetMembers[], last?: bigint): Promise<Pet[]> {
  const added = await Promise.all(pets.map(async (pet) => checkAdded(pet, await store.call('create', pet, {}), last)))
  const ids = new Set(added.map(({ id }) => id))
  equal(`${pets.length} calls of create at once: the number of different ids`, ids.size, pets.length)
  return added.sort(byId)
}

export const byId = (a: Pet, b: Pet) => (a.id < b.id ? -1 : 1)

/** A call of `create` with an idempotency key. */
export interface KeyedCall {
  readonly pet?: PetMembers
  readonly scope?: string
  readonly key?: string
  /** How many equal calls are made at once. */
  readonly times?: number
}

/**
 * Makes equal calls at once. One of them must add an animal, unless the key has added `first`
 * before. Then all of them must return `first`, also if it has been changed or removed since.
 * @param last - the greatest id before the calls
 */
export async function createWithKey(
  store: Storage,
  { pet = REX, scope = 'account:acme', key = 'order-1', times = 1 }: KeyedCall = {},
  first?: Pet,
  last?: bigint,
): Promise<Pet> {
  const idempotency = { scope, key, fingerprint: fingerprintOf(pet) }
  const call = async () => {
    const result = await store.call('create', pet, { idempotency })
    if (first === undefined) await store.returns('get', [result?.id], { ...pet, id: result?.id })
    return result
  }
  const results = await Promise.all(Array.from({ length: times }, call))
  const added = results.filter((result) => result?.earlier == null)
  const text = `create(${show(pet)}) with the key ${show(key)} of ${show(scope)}`
  equal(`${text}, ${times} at once: the number of new animals`, added.length, first ? 0 : 1)
  const one = first ?? checkAdded(pet, added[0], last)
  const earlier = fingerprintOf(one) === fingerprintOf(pet) ? 'same' : 'different'
  for (const result of results) {
    if (result?.earlier == null) continue
    // If the animals differ, the caller gets an error, so the other members do not matter.
    if (earlier === 'different') equal(text, { id: result.id, earlier: result.earlier }, { id: one.id, earlier })
    else equal(text, result, { ...one, earlier })
  }
  return one
}

/** Changes an animal, and returns it as it must be now. */
export async function change(store: Storage, pet: Pet, changes: PetChanges, options?: ChangeOptions): Promise<Pet> {
  const changed = withChanges(pet, changes)
  await store.returns('update', [pet.id, changes, options], { applied: true, pet: changed })
  return changed
}

/** Returns an animal with the new values of those members that are not `undefined`. */
export function withChanges(pet: Pet, changes: PetChanges): Pet {
  return { ...pet, ...Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined)) }
}

/** Removes an animal, which must be as it is given. */
export async function remove(store: Storage, pet: Pet, options?: ChangeOptions): Promise<void> {
  await store.returns('remove', [pet.id, options], { applied: true, pet })
}

/** Restores animals, of which those with the ids in `existing` must stay as they are. */
export async function restore(store: Storage, pets: readonly Pet[], existing: readonly bigint[] = []): Promise<void> {
  const returned = await store.call('restore', pets)
  const call = `${callText('restore', [pets])}: the ids that existed, sorted`
  equal(call, Array.isArray(returned) ? returned.toSorted(ascending) : returned, existing.toSorted(ascending))
}

const ascending = (one: bigint, other: bigint) => Number(one - other)
