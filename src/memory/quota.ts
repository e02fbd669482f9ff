import { LRUCache } from 'lru-cache'
import type { QuotaStore } from '../ports.ts'
import { countRequest, newQuotaState, type QuotaState } from '../windows.ts'

/** Counts in memory. Addresses have room of their own, so that no flood of strangers pushes out a customer's count. */
export function memoryQuota(maxCustomers: number, maxAddresses: number): QuotaStore {
  const customers = new LRUCache<string, QuotaState>({ max: maxCustomers })
  const addresses = new LRUCache<string, QuotaState>({ max: maxAddresses })

  return {
    spend(request) {
      const states = request.anonymous ? addresses : customers
      let state = states.get(request.subject)
      if (state === undefined) {
        state = newQuotaState()
        states.set(request.subject, state)
      }
      return countRequest(state, request)
    },
  }
}
