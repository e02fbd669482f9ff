import type { Arbitrary } from 'fast-check'
import type { BanRule, QuotaStore } from '../../../ports.ts'
import { texts } from './arbitraries.ts'
import { type CheckedQuota, checkedQuota, type Spending } from './checked-quota.ts'
import { type FastCheck, type SequenceOptions, suiteOf, type TestRunner, type Use, usesWith } from './runner.ts'

/** The options of {@link quotaContract}. */
export type QuotaContractOptions = SequenceOptions<QuotaStore>

/**
 * Adds the tests that every {@link QuotaStore} must pass. They need `fast-check`. The first tests
 * have one example for each rule. Then random sequences of requests must have the same results as
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
    const { examples, sequences } = suiteOf(runner, 'quotaContract', options, checkedQuota)
    examples(EXAMPLES)
    sequences('gives the same results as countRequest', calls, options.commands)
  })
}

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

function spending(perMinute: number, perDay: number, ban: BanRule | false = false, subject = 'account:a'): Spending {
  return { subject, anonymous: false, limits: { perMinute, perDay }, ban }
}

/**
 * Returns a test that sends the same request at each of `times`, in milliseconds since the start.
 */
function spends(request: Spending, ...times: readonly number[]): Use<CheckedQuota> {
  return async ({ spend, setClock, now }) => {
    const start = now()
    for (const time of times) {
      setClock(start + time)
      await spend(request)
    }
  }
}

/**
 * One example for each rule: if a store has a common mistake, one of these short tests fails before
 * the random ones.
 */
const EXAMPLES: Record<string, Use<CheckedQuota>> = {
  'grants `perMinute` requests, and refuses the next one': spends(spending(2, 10), 0, 0, 0),
  'grants `perDay` requests, and refuses the next one': spends(spending(10, 2), 0, 0, 0),
  'counts no refused request towards the limits': spends(spending(1, 10), 0, 0, MINUTE),
  'counts per UTC minute, not from the first request': spends(spending(1, 10), 50 * SECOND, MINUTE),
  'counts per UTC day, not from the first request': spends(spending(10, 1), 23 * HOUR, DAY),
  'counts each subject on its own': async ({ spend }) => {
    for (const subject of ['account:a', 'account:A', 'address:192.0.2.1', 'address:192.0.2.2'])
      await spend({ ...spending(1, 10, false, subject), anonymous: subject.startsWith('address:') })
  },
  'bans after `afterRefusals` refusals, and ends the ban': spends(
    spending(1, 10, { afterRefusals: 2, seconds: 90 }),
    ...[0, 0, 0, MINUTE, 90 * SECOND],
  ),
  'lifts no limit early when the clock steps back': spends(spending(1, 10), 0, -30 * SECOND),
  'returns the counts for peek, and counts nothing': async ({ spend, peek }) => {
    const request = spending(2, 10, { afterRefusals: 2, seconds: 90 })
    for (let i = 0; i < 5; i++) {
      await peek(request)
      await spend(request)
      await peek(request)
    }
  },
  'forgets the counts and the ban after reset': async ({ spend, peek, reset }) => {
    const request = spending(1, 10, { afterRefusals: 1, seconds: 90 })
    await spend(request, 1)
    await spend(request, 1)
    await spend({ ...request, subject: 'account:b' })
    await reset(request)
    await peek(request)
    await spend(request)
    await peek({ ...request, subject: 'account:b' })
  },
  'grants exactly the limit to concurrent requests': ({ spend }) => spend(spending(50, 1_000), 200),
}

function calls(fc: FastCheck): Arbitrary<Use<CheckedQuota>>[] {
  const large = fc.constantFrom(60, 1_000_000, Number.MAX_SAFE_INTEGER)
  const limit = fc.oneof({ arbitrary: fc.integer({ min: 1, max: 6 }), weight: 8 }, large)
  const rule = fc.record({
    afterRefusals: fc.integer({ min: 1, max: 6 }),
    seconds: fc.constantFrom(1, 30, 300, 100_000),
  })
  const ban: Arbitrary<BanRule | false> = fc.option(rule, { nil: false, freq: 4 })
  const one = fc
    .record({ subject: subjects(fc), limits: fc.record({ perMinute: limit, perDay: limit }), ban })
    .map((request): Spending => ({ ...request, anonymous: request.subject.startsWith('address:') }))
  const several = fc.uniqueArray(one, { minLength: 2, maxLength: 3, selector: ({ subject }) => subject })
  const times = fc.integer({ min: 2, max: 12 })
  const fewTimes = fc.integer({ min: 1, max: 5 })
  return [
    usesWith(one, ({ spend }, request) => spend(request)),
    usesWith(fc.tuple(one, times), ({ spend }, [request, times]) => spend(request, times)),
    usesWith(fc.tuple(several, fewTimes), ({ spend }, [different, times]) =>
      Promise.all(different.map((request) => spend(request, times))),
    ),
    usesWith(one, ({ peek }, request) => peek(request)),
    usesWith(one, ({ reset }, request) => reset(request)),
    usesWith(steps(fc), ({ setClock, now }, milliseconds) => setClock(now() + milliseconds)),
    ends(fc),
  ]
}

/**
 * Generates one of a few subjects, so that each occurs often in a sequence; sometimes a subject
 * that is hard to store.
 */
function subjects(fc: FastCheck) {
  const customers = ['account:a', 'account:b', 'account:A', 'key:a']
  const ordinary = fc.constantFrom(...customers, 'address:192.0.2.1', 'address:2001:db8::1')
  const hard = texts(fc).map((text) => `account:${text}`)
  return fc.oneof({ arbitrary: ordinary, weight: 12 }, hard)
}

function steps(fc: FastCheck): Arbitrary<number> {
  return fc.oneof(
    fc.integer({ min: 0, max: 2 * MINUTE }),
    fc.integer({ min: 0, max: 3 * DAY }),
    fc.constantFrom(1, MINUTE, DAY, 10 * DAY),
    fc.integer({ min: -2 * MINUTE, max: -1 }),
    fc.integer({ min: -26 * HOUR, max: -1 }),
  )
}

/**
 * Generates moves of the clock to the end of a window or of a ban, or to one millisecond before or
 * after that end.
 */
function ends(fc: FastCheck): Arbitrary<Use<CheckedQuota>> {
  const ends = fc.constantFrom('minuteEndsAt', 'dayEndsAt', 'bannedUntil')
  const moves = fc.tuple(fc.nat(), ends, fc.constantFrom(-1, 0, 1))
  return usesWith(moves, ({ states, setClock, now }, [index, end, offset]) => {
    const state = [...states.values()][index % Math.max(1, states.size)]
    setClock(Math.max((state?.[end] ?? 0) + offset, now()))
  })
}
