import type { Arbitrary } from 'fast-check'
import type { NewPet, Pet } from '../../model.ts'
import { fingerprintOf } from '../../pets/idempotency.ts'
import { KEY_PERIOD } from '../../pets/used-keys.ts'
import type { CreatedPet, Idempotency, PetStorage } from '../../ports.ts'
import { isIdempotent } from '../../support/idempotent-storage.ts'
import { type CheckedStorage, checkFound, listed } from './checked-storage.ts'
import { difference, type Steps, show } from './report.ts'
import type { FastCheck } from './runner.ts'

const REX = { name: 'Rex', categoryId: 1n } as const
const ADA = { name: 'Ada', categoryId: 1n, status: 'sold' } as const
const START = Date.UTC(2026, 0, 1)
const HOUR = 3_600_000

/** A call of `create` with an idempotency key. */
interface KeyedCall {
  /** @default REX */
  readonly pet?: NewPet
  /** @default 'account:acme' */
  readonly scope?: string
  /** @default 'order-1' */
  readonly key?: string
  /** The time since the first call, in milliseconds. @default 0 */
  readonly after?: number
}

/** A storage that supports idempotency keys, with checks that each key adds one animal in 24 hours. */
interface KeyedStorage {
  create(call?: KeyedCall): Promise<void>
  /** Makes equal calls at once. */
  createAtOnce(times: number): Promise<void>
  /** Checks that the storage has exactly the animals that were added. */
  checkPets(): Promise<void>
}

type Use = (keyed: KeyedStorage) => Promise<void>

/** One example for each rule. They pass at once if the storage does not support keys. */
export const keyedExamples: Readonly<Record<string, (checked: CheckedStorage) => Promise<void>>> = withKeys({
  'create adds one animal for each idempotency key': async ({ create, checkPets }) => {
    for (const key of ['order-1', 'order-1', 'order-2', 'order-1']) await create({ key })
    await checkPets()
  },
  'concurrent repeats of an idempotency key add one animal': async ({ create, createAtOnce, checkPets }) => {
    await createAtOnce(10)
    await create()
    await checkPets()
  },
  'create reports an idempotency key that was used for another animal': async ({ create, checkPets }) => {
    await create()
    for (const pet of [ADA, { ...REX, status: 'available' }, { ...REX, categoryId: 2n }, REX] as const)
      await create({ pet })
    await checkPets()
  },
  'each scope has idempotency keys of its own': async ({ create, checkPets }) => {
    await create()
    for (const scope of ['account:ACME', 'account:acme ', 'key:acme']) await create({ scope })
    await create({ scope: 'account:acmeorder', key: '-1' })
    await checkPets()
  },
  'an idempotency key differs by each of its characters': async ({ create, checkPets }) => {
    const long = 'k'.repeat(254)
    for (const key of ['a', 'A', '"', '\\', "'", '%', '_', `${long}1`, `${long}2`, 'a', `${long}1`])
      await create({ key })
    await checkPets()
  },
  'an idempotency key ends after 24 hours': async ({ create, checkPets }) => {
    for (const after of [0, KEY_PERIOD - 1, KEY_PERIOD, KEY_PERIOD + 1, 2 * KEY_PERIOD - 1]) await create({ after })
    await checkPets()
  },
})

function withKeys(examples: Record<string, Use>) {
  const entries = Object.entries(examples).map(([title, use]) => [
    title,
    async (checked: CheckedStorage) => {
      if (isIdempotent(checked.storage)) await use(keyedStorage(checked))
    },
  ])
  return Object.fromEntries(entries)
}

/** Generates calls with few scopes, keys and animals. The time passes, so that keys end. */
export function keyedCalls(fc: FastCheck): Arbitrary<readonly KeyedCall[]> {
  const call = fc.record({
    pet: fc.constantFrom(REX, ADA),
    scope: fc.constantFrom('account:acme', 'key:7'),
    key: fc.constantFrom('order-1', 'order-2', '~'.repeat(255)),
    after: fc.constantFrom(0, 0, 0, 1, 11 * HOUR, KEY_PERIOD - 1, KEY_PERIOD),
  })
  return fc.array(call, { maxLength: 20, size: 'max' })
}

/** Makes the calls one after another. `after` is here the time since the call before. */
export async function callWithKeys(checked: CheckedStorage, calls: readonly KeyedCall[]): Promise<void> {
  if (!isIdempotent(checked.storage)) return
  const keyed = keyedStorage(checked)
  let time = 0
  for (const { after = 0, ...call } of calls) {
    time += after
    await keyed.create({ ...call, after: time })
  }
  await keyed.checkPets()
}

/** The first use of a key: the animal, and when the key ends. */
interface FirstUse {
  readonly pet: Pet
  readonly endsAt: number
}

function keyedStorage({ storage, steps }: CheckedStorage): KeyedStorage {
  const pets: Pet[] = []
  const uses = new Map<string, FirstUse>()

  /** Checks a result by the earlier calls. */
  function check(pet: NewPet, { scope, key, now }: Idempotency, result: CreatedPet): void {
    const name = JSON.stringify([scope, key])
    const first = uses.get(name)
    if (first !== undefined && now < first.endsAt) checkRepeat(steps, pet, first.pet, result)
    else {
      const rule = first === undefined ? 'no earlier call of this scope has this key' : 'a key ends after 24 hours'
      const created = checkNew(steps, pet, pets.at(-1)?.id, result, rule)
      pets.push(created)
      uses.set(name, { pet: created, endsAt: now + KEY_PERIOD })
    }
  }

  return {
    async create(call) {
      const [pet, idempotency] = argumentsOf(call)
      check(pet, idempotency, await createdBy(storage, steps, pet, idempotency))
    },
    async createAtOnce(times) {
      const [pet, idempotency] = argumentsOf()
      const calls = Array.from({ length: times }, () => createdBy(storage, steps, pet, idempotency))
      const results = await Promise.all(calls)
      const added = results.filter((result) => result?.earlier == null)
      if (added.length !== 1)
        throw steps.broken(
          `create added ${added.length} animals for ${times} calls at once with one key: a key adds one animal`,
          '1 result without earlier',
          `${added.length} results without earlier`,
        )
      for (const result of [...added, ...results.filter((result) => result.earlier != null)])
        check(pet, idempotency, result)
    },
    async checkPets() {
      const found = await listed(storage, steps, { limit: pets.length + 1 })
      for (let i = 0; i <= pets.length; i++) {
        const extra = found[i]
        if (extra && i === pets.length)
          throw steps.broken(
            `list returned animal ${extra.id}: create has not returned it`,
            `${pets.length} animals`,
            `${found.length} animals`,
          )
        checkFound(steps, `list[${i}]`, extra, pets[i])
      }
    },
  }
}

function argumentsOf({
  pet = REX,
  scope = 'account:acme',
  key = 'order-1',
  after = 0,
}: KeyedCall = {}): readonly [NewPet, Idempotency] {
  return [pet, { scope, key, fingerprint: fingerprintOf(pet), now: START + after }]
}

function createdBy(
  storage: PetStorage,
  steps: Steps,
  pet: NewPet,
  { scope, key, fingerprint, now }: Idempotency,
): Promise<CreatedPet> {
  const time = now === START ? '' : ` after ${(now - START) / HOUR} hours`
  return steps.call(
    `create(${show(pet)}) with key ${show(key)} of ${show(scope)}${time}`,
    () => storage.create(pet, { idempotency: { scope, key, fingerprint, now } }),
    'a storage that supports keys accepts any key',
    (result) => `${show(result?.id)}${result?.earlier == null ? '' : `, earlier ${show(result.earlier)}`}`,
  )
}

/** Checks the result of the first call with a key, and returns the animal. `rule` says why the call is the first one. */
function checkNew(steps: Steps, pet: NewPet, before: bigint | undefined, result: CreatedPet, rule: string): Pet {
  const { earlier, ...created } = Object(result) as CreatedPet
  const broken = (what: string) =>
    steps.broken(`create returned ${what}`, show({ id: (before ?? 0n) + 1n, ...pet }), show(result))
  if (earlier != null) throw broken(`earlier ${show(earlier)}: ${rule}`)
  const differs = difference(created, { ...pet, id: created.id })
  if (differs) throw broken(`an animal ${differs.rule}`)
  if (typeof created.id !== 'bigint' || (before !== undefined && created.id <= before))
    throw broken(`the id ${show(created.id)}: ids ascend`)
  return created
}

/** Checks the result of a later call with a key that has added `first`. */
function checkRepeat(steps: Steps, pet: NewPet, first: Pet, result: CreatedPet): void {
  const earlier = fingerprintOf(pet) === fingerprintOf(first) ? 'same' : 'different'
  const expected = { ...pet, id: first.id, earlier }
  const broken = (what: string) => steps.broken(what, show(expected), show(result))
  if (result?.earlier == null)
    throw broken(
      `create added animal ${result?.id} for a key that has added animal ${first.id}: within 24 hours, a key adds one animal`,
    )
  if (result.earlier !== earlier) {
    const rule = earlier === 'same' ? 'both calls have the same fingerprint' : 'the fingerprints differ'
    throw broken(`create returned earlier ${show(result.earlier)}: ${rule}`)
  }
  if (result.id !== first.id)
    throw broken(`create returned the id ${show(result.id)} for a key that has added animal ${first.id}`)
  const differs = difference(result, expected)
  if (earlier === 'same' && differs) throw broken(`create returned an animal ${differs.rule}`)
}
