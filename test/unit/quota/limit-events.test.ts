import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import {
  createPetStore,
  type IssueOptions,
  type LimitReport,
  memory,
  type PetStoreOptions,
} from '../../../src/index.ts'
import type { QuotaCount } from '../../../src/ports.ts'
import { countRequest, newQuotaState } from '../../../src/quota/counting-rule.ts'
import { limitEvents } from '../../../src/quota/limit-events.ts'
import { manualClock } from '../../../src/testing/index.ts'

const NOON = Date.UTC(2026, 5, 1, 12)
const MINUTE = 60_000

/** Creates a store whose plan `free` has 10 requests a minute and 1,000 a day. `send` returns the events as text. */
async function startLimited(options: PetStoreOptions & { perDay?: number } = {}) {
  const { perDay = 1_000, ...others } = options
  const clock = manualClock(NOON)
  const backEnd = memory({ clock })
  const onLimit = vi.fn((_: LimitReport) => {})
  const plans = { free: { perMinute: 10, perDay }, pro: { perMinute: 20, perDay } }
  const petStore = createPetStore({ ...backEnd, clock, plans, onLimit, ...others })
  const issue = (options: Partial<IssueOptions> = {}) => backEnd.keyStore.issue({ plan: 'free', ...options })
  const { token, key } = await issue()

  async function send(times: number, sent = token): Promise<string[]> {
    onLimit.mockClear()
    for (let i = 0; i < times; i++)
      await petStore.fetch('http://a/v1/pets', { headers: { authorization: `Bearer ${sent}` } })
    return onLimit.mock.calls.map(([{ window, event, used, limit }]) => `${window} ${event} ${used} of ${limit}`)
  }

  /** Counts requests of the key as another process does. */
  async function spendElsewhere(times: number): Promise<void> {
    const request = { subject: `key:${key.id}`, anonymous: false, limits: plans.free, ban: false, now: clock.now() }
    for (let i = 0; i < times; i++) await backEnd.quota.spend({ ...request, ban: false })
  }
  return { ...backEnd, clock, issue, key, onLimit, petStore, send, spendElsewhere }
}

describe('onLimit', () => {
  test('is called at 80 % of a limit, and with the last request of the limit', async () => {
    const { key, onLimit, send } = await startLimited()
    expect(await send(7)).toEqual([])
    expect(await send(1)).toEqual(['minute warned 8 of 10'])
    const sent = expect.objectContaining({ id: key.id, plan: 'free' })
    const report = { key: sent, window: 'minute', event: 'warned', used: 8, limit: 10, resetsAt: NOON + MINUTE }
    expect(onLimit).toHaveBeenCalledExactlyOnceWith(report)
    expect(await send(1)).toEqual([])
    expect(await send(1)).toEqual(['minute reached 10 of 10'])
  })

  test('is called again in the next window', async () => {
    const { clock, send } = await startLimited({ ban: false })
    const events = ['minute warned 8 of 10', 'minute reached 10 of 10']
    expect(await send(15)).toEqual(events)
    clock.advance(MINUTE)
    expect(await send(15)).toEqual(events)
  })

  test('is called for both windows', async () => {
    const { clock, onLimit, send } = await startLimited({ perDay: 20 })
    await send(10)
    clock.advance(MINUTE)
    const events = ['day warned 16 of 20', 'minute warned 8 of 10', 'minute reached 10 of 10', 'day reached 20 of 20']
    expect(await send(10)).toEqual(events)
    expect(onLimit).toHaveBeenLastCalledWith(expect.objectContaining({ resetsAt: NOON + 12 * 3_600_000 }))
  })

  test('is called once for a ban, with its end', async () => {
    const { clock, onLimit, send } = await startLimited({ ban: { afterRefusals: 2, seconds: 300 } })
    await send(11)
    expect(await send(5)).toEqual(['minute banned 10 of 10'])
    expect(onLimit).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ resetsAt: NOON + 300_000 }))
    clock.advance(MINUTE)
    expect(await send(5)).toEqual([])
  })

  test('is called once for several short bans in a window', async () => {
    const { clock, send } = await startLimited({ perDay: 10, ban: { afterRefusals: 1, seconds: 1 } })
    await send(10)
    expect(await send(1)).toEqual(['day banned 10 of 10'])
    clock.advance(1_000)
    expect(await send(2)).toEqual([])
  })

  test('is called once for a line that other processes have passed', async () => {
    const { send, spendElsewhere } = await startLimited()
    await send(1)
    await spendElsewhere(7)
    expect(await send(1)).toEqual(['minute warned 9 of 10'])
    await spendElsewhere(1)
    expect(await send(2)).toEqual(['minute reached 10 of 10'])
  })

  test('gets only `reached` for a key that is at its limit from the start', async () => {
    const { send, spendElsewhere } = await startLimited()
    await spendElsewhere(10)
    expect(await send(2)).toEqual(['minute reached 10 of 10'])
  })

  test('is called for requests to routes of the host', async () => {
    const { issue, onLimit, petStore } = await startLimited()
    const { token } = await issue({ limits: { perMinute: 1, perDay: 9 } })
    const request = new Request('http://a/orders', { headers: { authorization: `Bearer ${token}` } })
    await petStore.admit(request)
    await petStore.admit(request, undefined, { count: false })
    expect(onLimit).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ event: 'reached', used: 1 }))
  })

  test('is not called for client addresses', async () => {
    const { onLimit, petStore } = await startLimited()
    const request = { method: 'GET', target: '/v1/pets', header: () => undefined, clientAddress: '192.0.2.1' }
    const responses = Array.from({ length: 12 }, () =>
      petStore.handle({ ...request, body: async () => new Uint8Array() }),
    )
    expect((await Promise.all(responses)).at(-1)?.status).toBe(429)
    expect(onLimit).not.toHaveBeenCalled()
  })

  test('is called once for all keys of an account', async () => {
    const { issue, onLimit, send } = await startLimited()
    const [one, two] = [await issue({ account: 'acme' }), await issue({ account: 'acme' })]
    expect(await send(5, one.token)).toEqual([])
    expect(await send(5, two.token)).toEqual(['minute warned 8 of 10', 'minute reached 10 of 10'])
    expect(onLimit.mock.calls[0]?.[0].key.id).toBe(two.key.id)
    expect(await send(2, one.token)).toEqual([])
  })

  test('is called for the limit of a new plan', async () => {
    const { key, keyStore, send } = await startLimited()
    await send(10)
    await keyStore.update(key.id, { plan: 'pro' })
    expect(await send(10)).toEqual(['minute warned 16 of 20', 'minute reached 20 of 20'])
    await keyStore.update(key.id, { limits: { perMinute: 15, perDay: 1_000 } })
    expect(await send(2)).toEqual(['minute reached 20 of 15'])
  })

  test('is called again after resetUsage', async () => {
    const { key, petStore, send } = await startLimited()
    await send(20)
    await petStore.keys.resetUsage(key)
    expect(await send(11)).toEqual(['minute warned 8 of 10', 'minute reached 10 of 10'])
  })

  test('is not called for requests that are served uncounted', async () => {
    const { quota } = memory()
    const spend = vi.fn(quota.spend)
    const { clock, send } = await startLimited({ quota: { spend }, onQuotaFailure: 'allow', onError: () => {} })
    await send(8)
    spend.mockRejectedValueOnce(new Error('down'))
    expect(await send(12)).toEqual([])
    clock.advance(1_000)
    expect(await send(1)).toEqual([])
    expect(await send(1)).toEqual(['minute reached 10 of 10'])
  })

  test.each([
    [
      'throws',
      () => {
        throw new Error('no mail')
      },
    ],
    ['rejects', () => Promise.reject(new Error('no mail'))],
  ])('onError gets the error if it %s, and the client its response', async (_, onLimit) => {
    const onError = vi.fn()
    const { petStore, issue } = await startLimited({ onLimit, onError })
    const { token } = await issue({ limits: { perMinute: 1, perDay: 9 } })
    const response = await petStore.fetch('http://a/v1/pets', { headers: { authorization: `Bearer ${token}` } })
    expect(response.status).toBe(200)
    const about = expect.objectContaining({ target: '/v1/pets', operation: 'listPets' })
    expect(onError).toHaveBeenCalledExactlyOnceWith(new Error('no mail'), about)
  })

  test.each([
    [0.5, ['minute warned 5 of 10', 'minute reached 10 of 10']],
    [0.55, ['minute warned 6 of 10', 'minute reached 10 of 10']],
    [1, ['minute reached 10 of 10']],
  ])('warns at the share %d of the limit', async (warnAt, events) => {
    const { send } = await startLimited({ warnAt })
    expect(await send(10)).toEqual(events)
  })

  test('warns at exactly 55 of 100', async () => {
    const { issue, send } = await startLimited({ warnAt: 0.55 })
    const { token } = await issue({ limits: { perMinute: 100, perDay: 1_000 } })
    expect(await send(54, token)).toEqual([])
    expect(await send(1, token)).toEqual(['minute warned 55 of 100'])
  })
})

describe('limitEvents', () => {
  const key = { id: 'key', plan: 'free' }
  const limits = { perMinute: 1, perDay: 1_000 }
  const reached = (): QuotaCount => countRequest(newQuotaState(), { limits, ban: false, now: NOON })

  test('remembers 50,000 reports, and forgets the oldest first', () => {
    const { takeNew } = limitEvents(1)
    const count = reached()
    const eventsOf = (subject: number) => takeNew(key, { subject: `key:${subject}`, limits }, count).length
    for (let subject = 0; subject <= 50_000; subject++) eventsOf(subject)
    expect([eventsOf(50_000), eventsOf(1), eventsOf(0)]).toEqual([0, 0, 1])
  })

  test('forgets only the reports about one subject', () => {
    const { takeNew, forget } = limitEvents(1)
    const eventsOf = (subject: string) => takeNew(key, { subject, limits }, reached()).length
    eventsOf('account:a')
    eventsOf('account:b')
    forget('account:a')
    expect([eventsOf('account:a'), eventsOf('account:b')]).toEqual([1, 0])
  })

  const calls = fc.array(
    fc.record({
      subject: fc.constantFrom('account:a', 'key:b'),
      perMinute: fc.constantFrom(4, 10),
      /** Requests that other processes count before this one. */
      elsewhere: fc.nat(8),
      /** How long the response of the quota store is late, in calls. */
      late: fc.nat(2),
      wait: fc.constantFrom(0, 0, 25_000, MINUTE, 86_400_000),
    }),
    { maxLength: 40 },
  )
  const banSeconds = fc.constantFrom(20, 90)

  test('reports each event once, when a count first shows it, whatever the order of the counts', () => {
    const WARN_AT = 0.5
    fc.assert(
      fc.property(calls, banSeconds, (calls, seconds) => {
        const clock = manualClock(NOON)
        const states = new Map<string, ReturnType<typeof newQuotaState>>()
        const arrivals = calls
          .map(({ subject, perMinute, elsewhere, late, wait }, index) => {
            clock.advance(wait)
            const state = states.get(subject) ?? newQuotaState()
            states.set(subject, state)
            const rule = {
              limits: { perMinute, perDay: 25 },
              ban: { afterRefusals: 3, seconds },
              now: clock.now(),
            }
            for (let i = 0; i < elsewhere; i++) countRequest(state, rule)
            return { subject, limits: rule.limits, count: countRequest(state, rule), at: index + late }
          })
          .toSorted((a, b) => a.at - b.at)

        const { takeNew } = limitEvents(WARN_AT)
        const reports = arrivals.flatMap(({ subject, limits, count }) =>
          takeNew(key, { subject, limits }, count).map(({ window, event, used }) => ({ subject, window, event, used })),
        )
        expect(reports).toEqual(expectedReports(arrivals, WARN_AT))
      }),
    )
  })
})

interface Arrival {
  readonly subject: string
  readonly limits: { readonly perMinute: number; readonly perDay: number }
  readonly count: QuotaCount
}

/** A model that remembers nothing: compares each count with all counts that arrived before it. */
function expectedReports(arrivals: readonly Arrival[], warnAt: number) {
  const windowsOf = ({ limits, count }: Arrival) => [
    { window: 'minute', used: count.usedInMinute, limit: limits.perMinute, end: count.minuteEndsAt },
    { window: 'day', used: count.usedInDay, limit: limits.perDay, end: count.dayEndsAt },
  ]
  /** The ban in a count, with the window that it belongs to. */
  const bansIn = (arrival: Arrival) => {
    const { bannedUntil, now } = arrival.count
    const [minute, day] = windowsOf(arrival)
    const cause = day && day.used >= day.limit ? day : minute
    return bannedUntil > now && cause ? [{ ...cause, bannedUntil }] : []
  }
  const isRepeated = (bans: ReturnType<typeof bansIn>, index: number) =>
    bans.slice(0, index).some(({ bannedUntil }) => bannedUntil === bans[index]?.bannedUntil)

  return arrivals.flatMap((arrival, index) => {
    const { subject } = arrival
    const before = arrivals.slice(0, index).filter((earlier) => earlier.subject === subject)
    const ofWindows = windowsOf(arrival).flatMap(({ window, used, limit, end }) => {
      const event = used >= limit ? 'reached' : 'warned'
      const line = event === 'reached' ? limit : warnAt * limit
      const isPassed = before
        .flatMap(windowsOf)
        .some((other) => other.window === window && other.limit === limit && other.end === end && other.used >= line)
      return used >= line && !isPassed ? [{ subject, window, event, used }] : []
    })
    const bans = [...before, arrival].flatMap(bansIn)
    const starts = bans.filter((_, i) => !isRepeated(bans, i))
    const ofBans = bansIn(arrival)
      .filter(() => !isRepeated(bans, bans.length - 1))
      .filter(({ window, end }) => starts.slice(0, -1).every((other) => other.window !== window || other.end !== end))
    return [...ofWindows, ...ofBans.map(({ window, used }) => ({ subject, window, event: 'banned', used }))]
  })
}
