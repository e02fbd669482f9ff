import type { QuotaStore } from '../ports.ts'
import { countRequest, newQuotaState, peekCount, type QuotaState } from '../quota/counting-rule.ts'
import { boundedMap } from '../support/bounded-map.ts'

/**
 * Creates a quota store in memory. Client addresses have their own map: many addresses must not
 * push out a customer's count.
 */
export function memoryQuota(maxCustomers = 100_000, maxAddresses = 10_000): QuotaStore {
  const customers = boundedMap<QuotaState>(maxCustomers)
  const addresses = boundedMap<QuotaState>(maxAddresses)
  return {
    spend(request) {
      const states = request.anonymous ? addresses : customers
      const known = states.get(request.subject)
      const state = known ?? newQuotaState()
      if (known === undefined) states.set(request.subject, state)
      return countRequest(state, request)
    },
    peek(request) {
      const states = request.anonymous ? addresses : customers
      return peekCount(states.peek(request.subject) ?? newQuotaState(), request)
    },
    reset({ subject, anonymous }) {
      const states = anonymous ? addresses : customers
      states.delete(subject)
    },
  }
}
