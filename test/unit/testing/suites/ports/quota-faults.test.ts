import { describe, test } from 'vitest'
import { countRequest, newQuotaState } from '../../../../../src/back-end.ts'
import { memory, type QuotaCount, type QuotaRequest, type QuotaStore } from '../../../../../src/index.ts'
import { quotaContract } from '../../../../../src/testing/index.ts'
import { expectReport, firstFailure, openFaulty, type PlantedFaults, tick } from './planted-faults.ts'

/** A quota store whose windows begin with the first request. */
function sliding(length: number, name: 'minuteEndsAt' | 'dayEndsAt'): QuotaStore {
  const store = counting((request) => request)
  return { spend: async (request) => ({ ...(await store.spend(request)), [name]: request.now + length }) }
}

/** A quota store that changes each request before it counts it. */
function counting(change: (request: QuotaRequest) => QuotaRequest): QuotaStore {
  const states = new Map<string, ReturnType<typeof newQuotaState>>()
  return {
    spend(request) {
      const changed = change(request)
      const state = states.get(changed.subject) ?? newQuotaState()
      states.set(changed.subject, state)
      return countRequest(state, changed)
    },
  }
}

/** A quota store that refuses each request outside the first window of its subject. */
function refusingAfter(end: 'minuteEndsAt' | 'dayEndsAt'): QuotaStore {
  const store = counting((request) => request)
  const first = new Map<string, number>()
  return {
    async spend(request) {
      const count = await store.spend(request)
      const endsAt = first.get(request.subject) ?? count[end]
      first.set(request.subject, endsAt)
      return endsAt === count[end] ? count : { ...count, granted: false }
    },
  }
}

/** A quota store that returns changed counts for a subject after the subject has been banned for the first time. */
function onceBanned(change: (count: QuotaCount, request: QuotaRequest) => QuotaCount): QuotaStore {
  const store = counting((request) => request)
  const banned = new Set<string>()
  return {
    async spend(request) {
      const count = await store.spend(request)
      if (count.bannedUntil > 0) banned.add(request.subject)
      return banned.has(request.subject) ? change(count, request) : count
    },
  }
}

const more = (limit: number) => Math.min(limit + 1, Number.MAX_SAFE_INTEGER)

const FAULTS: PlantedFaults<QuotaStore> = {
  'spend returns nothing': {
    report: 'spend returned undefined: spend must return the counts',
    plant: () => ({ spend: () => undefined as never }),
  },
  'a ban that refuses nothing': {
    report: 'spend granted a request during a ban, which ends at 2026-01-01T00:01:30.000Z',
    plant: () => {
      const store = counting((request) => request)
      const banned = new Map<string, number>()
      return {
        async spend(request) {
          const isBanned = (banned.get(request.subject) ?? 0) > request.now
          const count = await store.spend(request)
          banned.set(request.subject, count.bannedUntil)
          return isBanned ? { ...count, granted: true } : count
        },
      }
    },
  },
  'a ban that refuses a request after its end': {
    report: 'spend refused a request after the end of the ban at 2026-01-01T00:01:30.000Z',
    plant: () => onceBanned((count) => ({ ...count, granted: false })),
  },
  'a ban one refusal too early': {
    report: 'spend started a ban too early: afterRefusals is 2',
    plant: () =>
      counting(({ ban, ...request }) => ({
        ...request,
        ban: ban && { ...ban, afterRefusals: Math.max(1, ban.afterRefusals - 1) },
      })),
  },
  'a ban although the request has no ban rule': {
    report: 'spend returned bannedUntil although ban is false',
    plant: () => {
      const store = counting((request) => request)
      return {
        spend: async (request) => ({ ...(await store.spend(request)), ...(!request.ban && { bannedUntil: 9 }) }),
      }
    },
  },
  'the refusals of a minute go on after its end': {
    report: 'spend refused a request of a new minute: its count begins at 0',
    plant: () => refusingAfter('minuteEndsAt'),
  },
  'one request too few per minute': {
    report: 'spend refused a request within the limits: 1 of 2 used in this minute, 1 of 10 on this day',
    plant: () =>
      counting((request) => ({
        ...request,
        limits: { ...request.limits, perMinute: request.limits.perMinute - 1 || 1 },
      })),
  },
  'minutes that are not shortened when the clock steps back': {
    report:
      'spend returned a wrong minuteEndsAt: after the clock steps back, a window ends at most one minute after the new time',
    plant: () => {
      const latest = new Map<string, number>()
      const store = counting((request) => request)
      return {
        async spend(request) {
          const count = await store.spend(request)
          const minuteEndsAt = Math.max(count.minuteEndsAt, latest.get(request.subject) ?? 0)
          latest.set(request.subject, minuteEndsAt)
          return { ...count, minuteEndsAt }
        },
      }
    },
  },
  'refused requests that are counted in the minute': {
    report: 'spend counted a refused request in the minute: a refused request counts in neither window',
    plant: () => {
      const store = counting((request) => request)
      return {
        async spend(request) {
          const count = await store.spend(request)
          return count.granted ? count : { ...count, usedInMinute: count.usedInMinute + 1 }
        },
      }
    },
  },
  'one request too many per minute': {
    report: 'spend granted request 3 of the minute: perMinute is 2',
    plant: () =>
      counting((request) => ({ ...request, limits: { ...request.limits, perMinute: more(request.limits.perMinute) } })),
  },
  'no ban': {
    report: 'spend started no ban: afterRefusals is 2, and that many requests of the minute were refused',
    plant: () => counting((request) => ({ ...request, ban: false })),
  },
  'a ban that never ends': {
    report: 'spend returned a wrong bannedUntil: a ban ends 90 seconds after the refusal that started it',
    plant: () => onceBanned((count, request) => ({ ...count, granted: false, bannedUntil: request.now + 1_000 })),
  },
  'minutes that begin with the first request': {
    report:
      'spend returned a wrong minuteEndsAt: windows are whole minutes of UTC, and do not begin with the first request',
    plant: () => sliding(60_000, 'minuteEndsAt'),
  },
  'days that never end': {
    report: 'spend returned usedInDay 2: the count of a new day begins at 0',
    plant: () => {
      const days = new Map<string, number>()
      const store = counting((request) => request)
      return {
        async spend(request) {
          const count = await store.spend(request)
          const used = (days.get(request.subject) ?? 0) + (count.granted ? 1 : 0)
          days.set(request.subject, used)
          return { ...count, usedInDay: used }
        },
      }
    },
  },
  'one count for all anonymous clients': {
    report: 'spend refused the first request of "address:192.0.2.2": each subject has counts of its own',
    plant: () => counting((request) => (request.anonymous ? { ...request, subject: 'anonymous' } : request)),
  },
  'times rounded to seconds': {
    report: 'spend returned a wrong `now`: expected the time at which the store decided',
    plant: () => counting((request) => ({ ...request, now: Math.floor(request.now / 1000) * 1000 })),
  },
  'refused requests that are counted': {
    report: 'spend returned usedInDay 3: 2 requests of this day were granted, and refused requests do not count',
    plant: () => {
      const states = new Map<string, ReturnType<typeof newQuotaState>>()
      return {
        spend(request) {
          const state = states.get(request.subject) ?? newQuotaState()
          states.set(request.subject, state)
          const count = countRequest(state, request)
          if (!count.granted) state.usedInDay++
          return count
        },
      }
    },
  },
  'a peek that counts': {
    report: 'peek returned a wrong usedInMinute: peek must return the counts so far, and count nothing',
    plant: () => {
      const store = counting((request) => request)
      return { ...store, peek: store.spend }
    },
  },
  'a reset that keeps the ban': {
    report: 'spend refused the first request of "account:a": each subject has counts of its own',
    plant: () => ({ ...counting((request) => request), reset: () => {} }),
  },
  'a read and a write that are not atomic': {
    report: 'spend granted 200 of 200 simultaneous requests: the limits allow 50, and spend must be atomic',
    plant: () => {
      const states = new Map<string, ReturnType<typeof newQuotaState>>()
      return {
        async spend(request) {
          const state = { ...(states.get(request.subject) ?? newQuotaState()) }
          await tick()
          const count = countRequest(state, request)
          states.set(request.subject, state)
          return count
        },
      }
    },
  },
}

describe('the quota suite', () => {
  test.each(Object.entries(FAULTS))('reports the fault: %s', async (name, { plant, report }) => {
    const onlySpend = { peek: undefined, reset: undefined }
    const open = openFaulty(
      (clock) => memory({ clock }).quota,
      (...parameters) => ({ ...onlySpend, ...plant(...parameters) }),
    )
    expectReport(await firstFailure((runner) => quotaContract(runner, { name, open, runs: 10, seed: 1 })), report)
  })
})
