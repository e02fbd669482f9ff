import type { Arbitrary } from 'fast-check'
import type { NewPet, Pet } from '../../model.ts'
import { fingerprintOf, KEY_PERIOD, keyText } from '../../pets/idempotency.ts'
import type { CreatedPet, Idempotency, MaybePromise } from '../../ports.ts'
import { REX, SOLD } from './arbitraries.ts'
import { type CheckedStorage, checkAdded } from './checked-storage.ts'
import { type Steps, show } from './report.ts'
import { type FastCheck, NotApplicable, type Use } from './runner.ts'

const ADA = { ...SOLD, name: 'Ada' } as const
const HOUR = 3_600_000

interface CreateOnceCall {
  readonly pet?: NewPet
  readonly scope?: string
  readonly key?: string
  /** The time since the first call, in milliseconds. @default 0 */
  readonly after?: number
}

type CheckedCreateOnce = ReturnType<typeof checkedCreateOnce>

/** One example for each rule. They are skipped if the storage has no `createOnce`. */
export const idempotencyExamples = {
  'createOnce adds one animal for each idempotency key': withKeys(async ({ create, checkPets }) => {
    for (const key of ['order-1', 'order-1', 'order-2', 'order-1']) await create({ key })
    await checkPets()
  }),
  'concurrent repeats of an idempotency key add one animal': withKeys(async ({ create, createAtOnce, checkPets }) => {
    await createAtOnce(10)
    await create()
    await checkPets()
  }),
  'createOnce reports an idempotency key that was used for another animal': withKeys(async ({ create, checkPets }) => {
    await create()
    for (const pet of [ADA, { ...REX, status: 'available' }, { ...REX, categoryId: 2n }, REX] as const)
      await create({ pet })
    await checkPets()
  }),
  'each scope has idempotency keys of its own': withKeys(async ({ create, checkPets }) => {
    await create()
    for (const scope of ['account:ACME', 'account:acme ', 'key:acme']) await create({ scope })
    await create({ scope: 'account:acmeorder', key: '-1' })
    await checkPets()
  }),
  'an idempotency key differs by each of its characters': withKeys(async ({ create, checkPets }) => {
    const long = 'k'.repeat(254)
    for (const key of ['a', 'A', '"', '\\', "'", '%', '_', `${long}1`, `${long}2`, 'a', `${long}1`])
      await create({ key })
    await checkPets()
  }),
  'keeps idempotency keys when it is opened again': withKeys(async ({ create, reopen, checkPets }) => {
    const keys = Array.from({ length: 30 }, (_, i) => `order-${i}`)
    for (const key of keys) await create({ key })
    await reopen()
    for (const key of keys) await create({ key })
    await checkPets()
  }),
  'an idempotency key ends after 48 hours': withKeys(async ({ create, checkPets }) => {
    for (const after of [0, KEY_PERIOD - 1, KEY_PERIOD, KEY_PERIOD + 1, 2 * KEY_PERIOD - 1]) await create({ after })
    await checkPets()
  }),
} satisfies Record<string, Use<CheckedStorage>>

/** Returns a test that is skipped if the storage has no `createOnce`. */
function withKeys(use: (checked: CheckedCreateOnce) => Promise<void>): Use<CheckedStorage> {
  return async (checked) => {
    if (!checked.storage.createOnce) throw new NotApplicable('the storage has no method createOnce')
    await use(checkedCreateOnce(checked))
  }
}

/** Generates calls with few scopes, keys and animals, over a time in which 48 hours pass. */
export function createOnceCalls(fc: FastCheck): Arbitrary<readonly CreateOnceCall[]> {
  const call = fc.record({
    pet: fc.constantFrom(REX, ADA),
    scope: fc.constantFrom('account:acme', 'key:7'),
    key: fc.constantFrom('order-1', 'order-2', '~'.repeat(255)),
    after: fc.constantFrom(0, 0, 0, 1, 11 * HOUR, KEY_PERIOD - 1, KEY_PERIOD),
  })
  return fc.array(call, { maxLength: 20, size: 'max' })
}

/** Makes the calls one after another. Here, `after` is the time since the previous call. */
export function makeCreateOnceCalls(checked: CheckedStorage, calls: readonly CreateOnceCall[]): Promise<void> {
  const callAll = withKeys(async ({ create, checkPets }) => {
    let time = 0
    for (const { after = 0, ...call } of calls) {
      time += after
      await create({ ...call, after: time })
    }
    await checkPets()
  })
  return callAll(checked)
}

interface Returned {
  readonly pet: NewPet
  readonly idempotency: Idempotency
  readonly now: number
  readonly result: CreatedPet
}

function checkedCreateOnce(checked: CheckedStorage) {
  const { steps, clock, pets, list } = checked
  const start = clock.now()
  /** The animal that each key has added, and when the key expires. */
  const uses = new Map<string, { readonly pet: Pet; readonly endsAt: number }>()

  async function call(made: CreateOnceCall = {}): Promise<Returned> {
    const { pet = REX, scope = 'account:acme', key = 'order-1', after = 0 } = made
    const idempotency = { scope, key, fingerprint: fingerprintOf(pet) }
    const now = start + after
    clock.set(now)
    const time = after === 0 ? '' : ` after ${after / HOUR} hours`
    const result = await steps.call(
      `createOnce(${show(pet)}) with key ${show(key)} of ${show(scope)}${time}`,
      () => checked.storage.createOnce?.(pet, idempotency) as MaybePromise<CreatedPet>,
      'a storage that supports keys accepts any key',
      (result) => `${show(result?.id)}${result?.earlier == null ? '' : `, earlier ${show(result.earlier)}`}`,
    )
    return { pet, idempotency, now, result }
  }

  function check({ pet, idempotency, now, result }: Returned): void {
    const first = uses.get(keyText(idempotency))
    if (first !== undefined && now < first.endsAt) {
      checkRepeat(steps, pet, first.pet, result)
      return
    }
    const rule = first === undefined ? 'no earlier call of this scope has this key' : 'a key ends after 48 hours'
    const before = pets.at(-1)?.id
    const expected = { id: (before ?? 0n) + 1n, ...pet }
    const sentence = `createOnce returned earlier ${show(result?.earlier)}: ${rule}`
    steps.check(result?.earlier == null, sentence, expected, result)
    checkAdded(steps, pet, result && { ...result, earlier: undefined }, before)
    const created = { id: result.id, ...pet }
    pets.push(created)
    uses.set(keyText(idempotency), { pet: created, endsAt: now + KEY_PERIOD })
  }

  return {
    reopen: checked.reopen,
    create: async (made?: CreateOnceCall) => check(await call(made)),
    async createAtOnce(times: number) {
      const returned = await Promise.all(Array.from({ length: times }, () => call()))
      const isFirst = ({ result }: Returned) => result?.earlier == null
      const count = returned.filter(isFirst).length
      steps.check(
        count === 1,
        `createOnce added ${count} animals for ${times} calls at once with one key: a key adds one animal`,
        '1 result without earlier',
        `${count} results without earlier`,
      )
      returned.sort((a, b) => Number(isFirst(b)) - Number(isFirst(a))).forEach(check)
    },
    /** Checks that the storage has the added animals, and no others. */
    checkPets: async () => void (await list({ limit: pets.length + 1 })),
  }
}

/** Checks the result of a call whose key has added the animal `first` before. */
function checkRepeat(steps: Steps, pet: NewPet, first: Pet, result: CreatedPet): void {
  const earlier = fingerprintOf(pet) === fingerprintOf(first) ? 'same' : 'different'
  const expected = { ...pet, id: first.id, earlier }
  const check = (holds: boolean, what: string) => steps.check(holds, `createOnce ${what}`, expected, result)
  const key = `for a key that has added animal ${first.id}`
  check(result?.earlier != null, `added animal ${result?.id} ${key}: within 48 hours, a key adds one animal`)
  const rule = earlier === 'same' ? 'both calls have the same fingerprint' : 'the fingerprints differ'
  check(result.earlier === earlier, `returned earlier ${show(result.earlier)}: ${rule}`)
  check(result.id === first.id, `returned the id ${show(result.id)} ${key}`)
  if (earlier === 'same') steps.checkEqual('createOnce returned an animal', result, expected)
}
