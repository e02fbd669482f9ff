import { clearImmediate, setImmediate } from 'node:timers'

// The functions at load time: fake timers of a test may replace them later.
const runtimeSetImmediate = setImmediate
const runtimeClearImmediate = clearImmediate

let schedule: ((callback: () => void) => unknown) | undefined

/** Calls a function at the end of this turn of the event loop. */
export function atEndOfTurn(callback: () => void): void {
  // Chosen at the first call, because Workers allow no timer while a module loads.
  schedule ??= isRuntimeTimer() ? runtimeSetImmediate : (callback) => Promise.resolve().then(callback)
  schedule(callback)
}

/** A test may have installed fake timers before this module was loaded. Their handles are of another class. */
function isRuntimeTimer(): boolean {
  const handle = runtimeSetImmediate(() => {})
  runtimeClearImmediate(handle)
  return handle?.constructor?.name === 'Immediate'
}
