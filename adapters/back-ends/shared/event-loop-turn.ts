// Kept here, because fake timers of a test may replace the global functions later, and then a call
// would never return.
const { setImmediate: runtimeSetImmediate, clearImmediate: runtimeClearImmediate } = globalThis

let schedule: ((callback: () => void) => unknown) | undefined

/** Calls a function at the end of this turn of the event loop. */
export function atEndOfEventLoopTurn(callback: () => void): void {
  // Chosen at the first call: `isRuntimeTimer` starts a timer, and Workers allow no timer while a
  // module loads.
  schedule ??= isRuntimeTimer() ? runtimeSetImmediate : (callback) => Promise.resolve().then(callback)
  schedule(callback)
}

/**
 * Returns false if a test installed fake timers before this module was loaded: a fake
 * `setImmediate` returns no `Immediate`.
 */
function isRuntimeTimer(): boolean {
  const handle = runtimeSetImmediate?.(() => {})
  runtimeClearImmediate?.(handle)
  return handle?.constructor?.name === 'Immediate'
}
