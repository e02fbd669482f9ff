import { describe, test } from 'vitest'
import { countRequest, newQuotaState } from '../../../../../src/back-end.ts'
import { memory, type QuotaCount, type QuotaRequest, type QuotaStore } from '../../../../../src/index.ts'
import { quotaContract } from '../../../../../src/testing/index.ts'
import { expectFailure, firstFailure, openFaulty, type PlantedFaults, tick } from './planted-faults.ts'

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
  'a caller that is let in one millisecond before its ban ends': {
    fails: 'bans after `afterRefusals` refusals, and ends the ban',
    plant: () => {
      const store = counting((request) => request)
      const banned = new Map<string, number>()
      return {
        async spend(request) {
          const isLast = banned.get(request.subject) === request.now + 1
          const count = await store.spend(request)
          banned.set(request.subject, count.bannedUntil)
          return isLast ? { ...count, granted: true } : count
        },
      }
    },
  },
  'subjects cut at 64 characters': {
    fails: 'counts each subject on its own',
    plant: () => counting((request) => ({ ...request, subject: request.subject.slice(0, 64) })),
  },
  'spend returns nothing': {
    fails: 'grants `perMinute` requests, and refuses the next one',
    plant: () => ({ spend: () => undefined as never }),
  },
  'a ban that refuses nothing': {
    fails: 'bans after `afterRefusals` refusals, and ends the ban',
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
    fails: 'bans after `afterRefusals` refusals, and ends the ban',
    plant: () => onceBanned((count) => ({ ...count, granted: false })),
  },
  'a ban one refusal too early': {
    fails: 'random calls give the same results as countRequest',
    plant: () =>
      counting(({ ban, ...request }) => ({
        ...request,
        ban: ban && { ...ban, afterRefusals: Math.max(1, ban.afterRefusals - 1) },
      })),
  },
  'a ban although the request has no ban rule': {
    fails: 'random calls give the same results as countRequest',
    plant: () => {
      const store = counting((request) => request)
      return {
        spend: async (request) => ({ ...(await store.spend(request)), ...(!request.ban && { bannedUntil: 9 }) }),
      }
    },
  },
  'the refusals of a minute go on after its end': {
    fails: 'counts no refused request towards the limits',
    plant: () => refusingAfter('minuteEndsAt'),
  },
  'one request too few per minute': {
    fails: 'grants `perMinute` requests, and refuses the next one',
    plant: () =>
      counting((request) => ({
        ...request,
        limits: { ...request.limits, perMinute: request.limits.perMinute - 1 || 1 },
      })),
  },
  'minutes that are not shortened when the clock steps back': {
    fails: 'random calls give the same results as countRequest',
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
    fails: 'grants `perMinute` requests, and refuses the next one',
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
    fails: 'grants `perMinute` requests, and refuses the next one',
    plant: () =>
      counting((request) => ({ ...request, limits: { ...request.limits, perMinute: more(request.limits.perMinute) } })),
  },
  'no ban': {
    fails: 'bans after `afterRefusals` refusals, and ends the ban',
    plant: () => counting((request) => ({ ...request, ban: false })),
  },
  'a ban that never ends': {
    fails: 'bans after `afterRefusals` refusals, and ends the ban',
    plant: () => onceBanned((count, request) => ({ ...count, granted: false, bannedUntil: request.now + 1_000 })),
  },
  'minutes that begin with the first request': {
    fails: 'returns the time, and when the windows and the ban end',
    plant: () => sliding(60_000, 'minuteEndsAt'),
  },
  'days that never end': {
    fails: 'counts per UTC day, not from the first request',
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
    fails: 'counts each subject on its own',
    plant: () => counting((request) => (request.anonymous ? { ...request, subject: 'anonymous' } : request)),
  },
  'times rounded to seconds': {
    fails: 'returns the time, and when the windows and the ban end',
    plant: () => counting((request) => ({ ...request, now: Math.floor(request.now / 1000) * 1000 })),
  },
  'refused requests that are counted': {
    fails: 'counts no refused request towards the limits',
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
    fails: 'returns the counts for peek, and counts nothing',
    plant: () => {
      const store = counting((request) => request)
      return { ...store, peek: store.spend }
    },
  },
  'a reset that keeps the ban': {
    fails: 'forgets the counts and the ban after reset',
    plant: () => ({ ...counting((request) => request), reset: () => {} }),
  },
  'a read and a write that are not atomic': {
    fails: 'grants exactly the limit to concurrent requests',
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
  test.each(Object.entries(FAULTS))('reports the fault: %s', async (name, { plant, fails }) => {
    const onlySpend = { peek: undefined, reset: undefined }
    const open = openFaulty(
      (clock) => memory({ clock }).quota,
      (...parameters) => ({ ...onlySpend, ...plant(...parameters) }),
    )
    expectFailure(await firstFailure((runner) => quotaContract(runner, { name, open, runs: 10, seed: 1 })), fails)
  })
})
