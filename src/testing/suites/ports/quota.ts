import type { BanRule, QuotaCount, QuotaRequest, QuotaStore } from '../../../ports.ts'
import { countRequest, newQuotaState, peekCount, type QuotaState } from '../../../quota/counting-rule.ts'
import { DAY, MINUTE } from '../../../support/time.ts'
import { brokenRule, type ExpectedCount } from './quota-rules.ts'
import { broken, difference, equal, show } from './report.ts'
import { type FastCheck, type On, type Store, type SuiteOptions, suiteOf, type TestRunner } from './suite.ts'
import { texts } from './values.ts'

/** The options of {@link quotaContract}. */
export type QuotaContractOptions = SuiteOptions<QuotaStore>
type Quota = Store<QuotaStore>
/** The input of `spend` without `now`, which comes from the clock. */
type Spending = Omit<QuotaRequest, 'now'>

const HOUR = DAY / 24
const requestOf = (perMinute: number, perDay: number, ban: BanRule | false = false): Spending => ({
  subject: 'account:a',
  anonymous: false,
  limits: { perMinute, perDay },
  ban,
})

/**
 * Adds the tests that every {@link QuotaStore} must pass. They need `fast-check`. Each test has one
 * rule, which is its title. Then random requests must have the same results as
 * {@link countRequest}, while the clock moves forward, and back by at most 26 hours. A store may
 * remove a subject two days after the end of its windows and its ban.
 * @example
 * ```ts
 * import { describe, test } from 'node:test'
 * import { memory } from 'petstore-kit'
 * import { quotaContract } from 'petstore-kit/testing'
 *
 * quotaContract({ describe, test }, {
 *   name: 'our counts',
 *   open: async (clock) => ({ port: memory({ clock }).quota, close: async () => {} }),
 * })
 * ```
 */
export function quotaContract(runner: TestRunner, options: QuotaContractOptions): void {
  runner.describe(`quota: ${options.name}`, () => {
    const { rule, modelTest } = suiteOf(runner, options, () => {})

    /** Adds a test of equal requests. Each row: the time since the start, then the counts in the minute and the day. */
    type Row = readonly [at: number, outcome: 'granted' | 'refused', usedInMinute: number, usedInDay: number]
    const counts = (title: string, request: Spending, ...rows: readonly Row[]) =>
      rule(title, async ({ clock, call }) => {
        const start = clock.now()
        for (const [at, outcome, ...used] of rows) {
          clock.set(start + at)
          const count: Partial<QuotaCount> = (await call('spend', { ...request, now: clock.now() })) ?? {}
          const received = [count.granted ? 'granted' : 'refused', count.usedInMinute, count.usedInDay]
          equal(`spend(${show(request)}) at ${at} ms: outcome, usedInMinute, usedInDay`, received, [outcome, ...used])
        }
      })
    counts(
      'grants `perMinute` requests, and refuses the next one',
      requestOf(2, 10),
      [0, 'granted', 1, 1],
      [0, 'granted', 2, 2],
      [0, 'refused', 2, 2],
    )
    counts(
      'grants `perDay` requests, and refuses the next one',
      requestOf(10, 2),
      [0, 'granted', 1, 1],
      [0, 'granted', 2, 2],
      [0, 'refused', 2, 2],
    )
    counts(
      'counts no refused request towards the limits',
      requestOf(1, 10),
      [0, 'granted', 1, 1],
      [0, 'refused', 1, 1],
      [MINUTE, 'granted', 1, 2],
    )
    counts(
      'counts per UTC minute, not from the first request',
      requestOf(1, 10),
      [50_000, 'granted', 1, 1],
      [MINUTE - 1, 'refused', 1, 1],
      [MINUTE, 'granted', 1, 2],
    )
    counts(
      'counts per UTC day, not from the first request',
      requestOf(10, 1),
      [23 * HOUR, 'granted', 1, 1],
      [DAY - 1, 'refused', 0, 1],
      [DAY, 'granted', 1, 1],
    )
    counts(
      'bans after `afterRefusals` refusals, and ends the ban',
      requestOf(1, 10, { afterRefusals: 2, seconds: 90 }),
      [0, 'granted', 1, 1],
      [0, 'refused', 1, 1],
      [0, 'refused', 1, 1],
      [MINUTE, 'refused', 0, 1],
      [90_000 - 1, 'refused', 0, 1],
      [90_000, 'granted', 1, 2],
    )
    counts(
      'lifts no limit early when the clock steps back',
      requestOf(1, 10),
      [0, 'granted', 1, 1],
      [-30_000, 'refused', 1, 1],
      [-25 * HOUR, 'refused', 1, 1],
    )
    rule('returns the time, and when the windows and the ban end', async ({ clock, call }) => {
      const request = requestOf(1, 10, { afterRefusals: 1, seconds: 90 })
      const start = clock.now()
      clock.advance(7)
      for (const bannedUntil of [0, start + 90_007]) {
        const count = await call('spend', { ...request, now: clock.now() })
        const ends = { now: start + 7, minuteEndsAt: start + MINUTE, dayEndsAt: start + DAY, bannedUntil }
        equal(`spend(${show(request)})`, count, { ...count, ...ends })
      }
    })
    rule('counts each subject on its own', async ({ clock, call }) => {
      const long = 'a'.repeat(1_000)
      const subjects = ['account:a', 'account:A', `account:${long}1`, `account:${long}2`, 'address:::1', 'address:::2']
      for (const subject of subjects) {
        const request = { ...requestOf(1, 10), subject, anonymous: subject.startsWith('address'), now: clock.now() }
        equal(`the first spend(${show(request)}).granted`, (await call('spend', request)).granted, true)
      }
    })
    rule('grants exactly the limit to concurrent requests', async (store) => {
      const request = { ...requestOf(50, 1_000), now: store.clock.now() }
      const all = await Promise.all(Array.from({ length: 200 }, () => store.call('spend', request)))
      equal(`200 times spend(${show(request)}) at once: granted`, all.filter(({ granted }) => granted).length, 50)
    })
    const peeks = async (store: Quota) => {
      const model = newModel(store)
      const request = requestOf(2, 10, { afterRefusals: 2, seconds: 90 })
      for (let i = 0; i < 5; i++) {
        await peek(model, store, request)
        await spend(model, store, request)
        await peek(model, store, request)
      }
    }
    rule('returns the counts for peek, and counts nothing', peeks, ['peek'])
    const resets = async (store: Quota) => {
      const model = newModel(store)
      const request = requestOf(1, 10, { afterRefusals: 2, seconds: 90 })
      const [a, b] = ['account:a', 'account:b'].map((subject) => ({ ...request, subject })) as [Spending, Spending]
      for (const calls of [
        [a, a, b],
        [a, a, a],
        [a, b],
      ]) {
        for (const one of calls) await spend(model, store, one)
        await reset(model, store, a)
      }
    }
    rule('forgets the counts and the ban after reset', resets, ['reset'])

    modelTest('random calls give the same results as countRequest', newModel, commandsOf)
  })
}

const newModel = ({ clock }: Quota) => ({ states: new Map<string, QuotaState>(), latest: clock.now() })
type Model = ReturnType<typeof newModel>

const stateOf = ({ states }: Model, subject: string): QuotaState => states.get(subject) ?? newQuotaState()

/** Sends equal requests at once. Their results must be those of countRequest, in any order. */
async function spend(model: Model, store: Quota, spending: Spending, times = 1): Promise<void> {
  const request = { ...spending, now: store.clock.now() }
  const state = stateOf(model, request.subject)
  model.states.set(request.subject, state)
  const expected = Array.from({ length: times }, (): ExpectedCount => {
    const before = { ...state }
    return { before, count: countRequest(state, request) }
  })
  const received = await Promise.all(expected.map(() => store.call('spend', request)))
  const granted = (counts: readonly QuotaCount[]) => counts.filter((count) => count?.granted).length
  const allowed = granted(expected.map(({ count }) => count))
  if (times > 1 && granted(received) > allowed)
    broken(
      `spend must be atomic: of ${times} requests at once, the limits allow ${allowed}`,
      allowed,
      granted(received),
    )
  expected.sort((a, b) => byUse(a.count, b.count))
  for (const [i, count] of received.sort(byUse).entries()) checkCount(request, count, expected[i] as ExpectedCount)
}

/** Throws an error that names the broken rule of counting, unless the count is the expected one. */
function checkCount(request: QuotaRequest, received: QuotaCount, expected: ExpectedCount): void {
  const path = difference(received, expected.count)
  if (path === undefined) return
  const name = path.replace('result.', '') as keyof QuotaCount
  const rule = name in expected.count ? brokenRule(request, received, expected, name) : 'must return the counts'
  broken(`spend ${rule}`, expected.count, received)
}

const byUse = (a: QuotaCount, b: QuotaCount) =>
  Number(b.granted) - Number(a.granted) || a.usedInMinute - b.usedInMinute || a.bannedUntil - b.bannedUntil

async function peek(model: Model, store: Quota, spending: Spending): Promise<void> {
  const request = { ...spending, now: store.clock.now() }
  await store.returns('peek', [request], peekCount(stateOf(model, request.subject), request))
}

async function reset({ states }: Model, store: Quota, { subject, anonymous }: Spending): Promise<void> {
  await store.call('reset', { subject, anonymous })
  states.delete(subject)
}

function commandsOf(fc: FastCheck, on: On<Model, Quota>) {
  const large = fc.constantFrom(60, 1_000_000, Number.MAX_SAFE_INTEGER)
  const limit = fc.oneof({ arbitrary: fc.integer({ min: 1, max: 6 }), weight: 8 }, large)
  const rule = fc.record({
    afterRefusals: fc.integer({ min: 1, max: 6 }),
    seconds: fc.constantFrom(1, 30, 300, 100_000),
  })
  const usual = fc.constantFrom('account:a', 'account:b', 'account:A', 'key:a', 'address:192.0.2.1', 'address:::1')
  const one = fc
    .record({
      subject: fc.oneof({ arbitrary: usual, weight: 12 }, texts(fc)),
      limits: fc.record({ perMinute: limit, perDay: limit }),
      ban: fc.option(rule, { nil: false as const, freq: 4 }),
    })
    .map((request): Spending => ({ ...request, anonymous: request.subject.startsWith('address:') }))
  const several = fc.uniqueArray(one, { minLength: 2, maxLength: 3, selector: ({ subject }) => subject })
  const times = fc.oneof(fc.constant(1), fc.integer({ min: 2, max: 12 }))
  const setClock = (model: Model, { clock }: Quota, time: number) => {
    clock.set(Math.max(time, model.latest - 26 * HOUR))
    model.latest = Math.max(model.latest, clock.now())
  }
  const moves = fc.oneof(
    fc.integer({ min: 0, max: 2 * MINUTE }),
    fc.integer({ min: 0, max: 3 * DAY }),
    fc.constantFrom(1, MINUTE, DAY, 10 * DAY),
    fc.integer({ min: -2 * MINUTE, max: -1 }),
    fc.integer({ min: -26 * HOUR, max: -1 }),
  )
  const end = fc.constantFrom('minuteEndsAt', 'dayEndsAt', 'bannedUntil')
  const ends = fc.record({ index: fc.nat(), end, offset: fc.constantFrom(-1, 0, 1) })
  return [
    on('spend', fc.record({ request: one, times }), (model, store, { request, times }) =>
      spend(model, store, request, times),
    ),
    on('spend at once', several, (model, store, all) =>
      Promise.all(all.map((request) => spend(model, store, request, 3))),
    ),
    on('peek', one, peek, 'peek'),
    on('reset', one, reset, 'reset'),
    on('clock.advance', moves, (model, store, time) => setClock(model, store, store.clock.now() + time)),
    // The end of a window or a ban, or one millisecond before or after it.
    on('clock.set', ends, (model, store, { index, end, offset }) => {
      const state = [...model.states.values()][index % Math.max(1, model.states.size)]
      setClock(model, store, Math.max((state?.[end] ?? 0) + offset, store.clock.now()))
    }),
  ]
}
