import { clearImmediate, setImmediate } from 'node:timers'

/** From how many answers in one turn of the event loop on they are written together. */
const SEVERAL = 2
/** How many wait for one another at most: were it hundreds, the first would wait too long. */
const MOST = 32
/** While answers are written one by one, every so many-th looks whether its turn brings several. */
const SAMPLE = 32

/** What was there when this was loaded, whatever a host's tests put in its place later. */
const atEndOfTurn = setImmediate
const cancel = clearImmediate

/** When an answer is to be written: at once, or where several come at a time, when this promise resolves. */
export type WritingTime = () => Promise<void> | undefined

/**
 * Makes what tells a door when to write its answers. Where several requests come at a time, that is when what the sockets
 * have brought together is worked on.
 *
 * A client that sleeps must be woken, which costs its server as much as a short request does. Answers that are written
 * one after another wake it once. Each request waits by itself, and so goes on in its own async context.
 */
export function writingTimes(): WritingTime {
  let known: WritingTime | undefined
  return () => {
    // Asked of the first request: Workers let nothing be timed while a module is loaded.
    known ??= isRuntimesOwn() ? byTurns() : () => undefined
    return known()
  }
}

/** Tests that had put a fake in its place before would have answers wait until they turn its time on. */
function isRuntimesOwn(): boolean {
  const handle = atEndOfTurn(() => {})
  const isOwn = handle?.constructor?.name === 'Immediate'
  if (isOwn) cancel(handle)
  return isOwn
}

function byTurns(): WritingTime {
  let isBusy = false
  let isCounting = false
  /** Answers since the count began. */
  let count = 0
  let uncounted = 0
  let batch: Promise<void> | undefined
  let release = () => {}

  const releaseBatch = () => {
    batch = undefined
    release()
  }
  const endCount = () => {
    isCounting = false
    isBusy = count >= SEVERAL
    releaseBatch()
  }
  const beginCount = () => {
    isCounting = true
    count = 0
    atEndOfTurn(endCount)
  }
  return () => {
    if (!isCounting && (isBusy || ++uncounted % SAMPLE === 0)) beginCount()
    count++
    if (!isBusy) return undefined
    batch ??= new Promise((resolve) => {
      release = resolve
    })
    const mine = batch
    if (count % MOST === 0) releaseBatch()
    return mine
  }
}
