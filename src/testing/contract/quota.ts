import type { Arbitrary, AsyncCommand } from 'fast-check'
import type { BanRule, Clock, QuotaRequest, QuotaStore } from '../../ports.ts'
import { countRequest, newQuotaState, type QuotaState } from '../../quota/fixed-windows.ts'
import { type ManualClock, manualClock } from '../clock.ts'
import { texts } from './arbitraries.ts'
import { checkEqual, checkSameItems, show } from './assert.ts'
import { command } from './command.ts'
import { type FastCheck, fastCheckOf } from './fast-check.ts'
import { type Opened, type TestRunner, withPort } from './runner.ts'

/** The options of {@link quotaContract}. */
export interface QuotaContractOptions {
  /** The name of the quota store in test titles. */
  readonly name: string
  /** Opens a quota store without counts that reads the time from `clock`. */
  open(clock: Clock): Promise<Opened<QuotaStore>>
  /** The number of random sequences of calls. @default 30 */
  readonly runs?: number | undefined
  /** The largest number of calls in one sequence. @default 60 */
  readonly commands?: number | undefined
}

/**
 * Adds the tests that every {@link QuotaStore} must pass. They need `fast-check`.
 *
 * The results of random sequences of requests, single and in bursts, must be those of {@link countRequest}, while the clock moves
 * forward and back. The clock stays within 26 hours of its latest time. A store may forget a subject two days after the end of its
 * windows and its ban.
 *
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
  const { name, open, runs = 30, commands = 60 } = options
  runner.describe(`quota: ${name}`, () => {
    runner.test('gives the same results as countRequest', async () => {
      const fc = await fastCheckOf(runner)
      const sequences = fc.commands(quotaCommands(fc), { maxCommands: commands, size: 'max' })
      const property = fc.asyncProperty(sequences, (sequence) => {
        const clock = manualClock()
        const model = { clock, states: new Map<string, QuotaState>(), latest: clock.now() }
        const use = (real: QuotaStore) => fc.asyncModelRun(() => ({ model, real }), sequence)
        return withPort(() => open(clock), use)
      })
      await fc.assert(property, { numRuns: runs })
    })
    runner.test('grants exactly the limit to concurrent requests', () => withPort(() => open(manualClock()), crowd))
  })
}

/** Sends 200 requests at once. All manual clocks start at the same time, so the request has the time of the store. */
async function crowd(quota: QuotaStore): Promise<void> {
  const limits = { perMinute: 50, perDay: 1_000 }
  const request = { subject: 'account:crowd', anonymous: false, limits, ban: false, now: manualClock().now() } as const
  const counts = await Promise.all(Array.from({ length: 200 }, async () => quota.spend(request)))
  const granted = counts.filter((count) => count.granted)
  checkEqual(granted.length, 50, 'granted of 200 at once')
  const used = granted.map(({ usedInMinute }) => usedInMinute)
  const expected = Array.from({ length: 50 }, (_, index) => index + 1)
  checkSameItems(used, expected, 'usedInMinute of the granted requests')
}

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const FURTHEST_BACK = 26 * HOUR

interface QuotaModel {
  readonly clock: ManualClock
  readonly states: Map<string, QuotaState>
  latest: number
}
type QuotaCommand = AsyncCommand<QuotaModel, QuotaStore>
type Spending = Omit<QuotaRequest, 'now'>

function quotaCommands(fc: FastCheck): Arbitrary<QuotaCommand>[] {
  const limit = fc.oneof(
    { arbitrary: fc.integer({ min: 1, max: 6 }), weight: 8 },
    { arbitrary: fc.constantFrom(60, 1_000_000, Number.MAX_SAFE_INTEGER), weight: 1 },
  )
  const rule = fc.record({
    afterRefusals: fc.integer({ min: 1, max: 6 }),
    seconds: fc.constantFrom(1, 30, 300, 100_000),
  })
  const ban: Arbitrary<BanRule | false> = fc.oneof(
    { arbitrary: rule, weight: 3 },
    { arbitrary: fc.constant(false), weight: 1 },
  )
  const spending = fc
    .record({ subject: subjects(fc), limits: fc.record({ perMinute: limit, perDay: limit }), ban })
    .map((request): Spending => ({ ...request, anonymous: request.subject.startsWith('address:') }))
  const several = fc.uniqueArray(spending, { minLength: 2, maxLength: 3, selector: ({ subject }) => subject })
  return [
    spending.map((one) => spend([one], 1)),
    fc.tuple(spending, fc.integer({ min: 2, max: 12 })).map(([one, times]) => spend([one], times)),
    fc.tuple(several, fc.integer({ min: 1, max: 5 })).map(([different, times]) => spend(different, times)),
    steps(fc).map(step),
    ends(fc),
  ]
}

/** Generates a few subjects, so that sequences repeat them. Some subjects are hard to store. */
function subjects(fc: FastCheck) {
  const customers = fc.constantFrom('account:a', 'account:b', 'account:A', 'key:a')
  const addresses = fc.constantFrom('address:192.0.2.1', 'address:2001:db8::1')
  const hard = texts(fc).map((text) => `account:${text}`)
  return fc.oneof(
    { arbitrary: customers, weight: 8 },
    { arbitrary: addresses, weight: 4 },
    { arbitrary: hard, weight: 1 },
  )
}

/** Calls `spend` several times at once for each subject. The results may come in any order. */
function spend(spendings: readonly Spending[], times: number): QuotaCommand {
  return command(`${times} times: ${spendings.map(show).join(' and at once ')}`, async (model, quota) => {
    await Promise.all(spendings.map((spending) => spendAtOnce(model, quota, spending, times)))
  })
}

async function spendAtOnce(model: QuotaModel, quota: QuotaStore, spending: Spending, times: number): Promise<void> {
  const request = { ...spending, now: model.clock.now() }
  const state = model.states.get(request.subject) ?? newQuotaState()
  model.states.set(request.subject, state)
  const expected = Array.from({ length: times }, () => countRequest(state, request))
  const actual = await Promise.all(Array.from({ length: times }, async () => quota.spend(request)))
  checkSameItems(actual, expected, `${times} times spend ${show(request)}`)
}

function steps(fc: FastCheck): Arbitrary<number> {
  const forward = fc.oneof(
    fc.integer({ min: 0, max: 2 * MINUTE }),
    fc.integer({ min: 0, max: 3 * DAY }),
    fc.constantFrom(1, MINUTE, DAY, 10 * DAY),
  )
  const back = fc.oneof(fc.integer({ min: 1, max: 2 * MINUTE }), fc.integer({ min: 1, max: FURTHEST_BACK }))
  return fc.oneof(
    { arbitrary: forward, weight: 3 },
    { arbitrary: back.map((milliseconds) => -milliseconds), weight: 2 },
  )
}

function step(milliseconds: number): QuotaCommand {
  return moveTo(`the clock steps by ${milliseconds} ms`, ({ clock }) => clock.now() + milliseconds)
}

/** Generates moves of the clock to the end of a window or ban of some subject, or one millisecond before or after it. */
function ends(fc: FastCheck): Arbitrary<QuotaCommand> {
  return fc
    .tuple(fc.nat(), fc.constantFrom('minuteEndsAt', 'dayEndsAt', 'bannedUntil'), fc.constantFrom(-1, 0, 1))
    .map(([index, end, offset]) => {
      const text = `the clock goes to ${end}${offset < 0 ? '' : '+'}${offset} of the subject number ${index}`
      return moveTo(text, ({ states, clock }) => {
        const state = [...states.values()][index % Math.max(1, states.size)]
        return Math.max((state?.[end] ?? 0) + offset, clock.now())
      })
    })
}

function moveTo(text: string, instant: (model: QuotaModel) => number): QuotaCommand {
  return command(text, async (model) => {
    model.clock.set(Math.max(instant(model), model.latest - FURTHEST_BACK))
    model.latest = Math.max(model.latest, model.clock.now())
  })
}
