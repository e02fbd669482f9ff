import type { QuotaCount, QuotaRequest } from '../ports.ts'
import { countRequest, newQuotaState } from '../quota/fixed-windows.ts'

/** How many numbers each subject has: the six of its state, and 1 if the subject was used again. */
const WIDTH = 7
const USED = 6

/**
 * Returns a function that counts the requests of at most `max` subjects. A new subject takes the place of the next one, in turn,
 * that has not been used since the last turn.
 *
 * The states are numbers in one list. With an object per subject, each count would read more places of the memory, and the garbage
 * collector would visit all objects. `lru-cache` takes twice as long.
 */
export function boundedCounts(max: number): (request: QuotaRequest) => QuotaCount {
  const starts = new Map<string, number>()
  const subjects: string[] = []
  const numbers: number[] = []
  const state = newQuotaState()
  /** Whose turn it is to be replaced. */
  let turn = 0

  function nextTurn(): number {
    const current = turn
    turn = (turn + 1) % max
    return current
  }

  /** Returns where the numbers of a new subject start. */
  function add(subject: string): number {
    let place = subjects.length
    if (place === max) {
      for (place = nextTurn(); numbers[WIDTH * place + USED] === 1; place = nextTurn())
        numbers[WIDTH * place + USED] = 0
      starts.delete(subjects[place] as string)
    }
    subjects[place] = subject
    for (let i = 0; i < WIDTH; i++) numbers[WIDTH * place + i] = 0
    starts.set(subject, WIDTH * place)
    return WIDTH * place
  }

  return (request) => {
    const known = starts.get(request.subject)
    const start = known ?? add(request.subject)
    if (known !== undefined) numbers[start + USED] = 1
    state.usedInMinute = numbers[start] as number
    state.minuteEndsAt = numbers[start + 1] as number
    state.usedInDay = numbers[start + 2] as number
    state.dayEndsAt = numbers[start + 3] as number
    state.refusedInMinute = numbers[start + 4] as number
    state.bannedUntil = numbers[start + 5] as number
    const count = countRequest(state, request)
    numbers[start] = state.usedInMinute
    numbers[start + 1] = state.minuteEndsAt
    numbers[start + 2] = state.usedInDay
    numbers[start + 3] = state.dayEndsAt
    numbers[start + 4] = state.refusedInMinute
    numbers[start + 5] = state.bannedUntil
    return count
  }
}
