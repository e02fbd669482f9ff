/** Old rows of a table are deleted once in this number of uses. Each deletion removes more rows than the uses add. */
const PERIOD = 500

/**
 * Returns a function to call after each use of a table, or once for several uses with their number.
 * It returns true if old rows must be deleted now.
 */
export function pruneSchedule(): (uses?: number) => boolean {
  // Random: on Workers, a back end may serve only one request. If each back end began with a
  // deletion, every request would wait for one.
  let usesLeft = Math.floor(Math.random() * PERIOD)

  return (uses = 1) => {
    usesLeft -= uses
    if (usesLeft >= 0) return false
    usesLeft = PERIOD - 1
    return true
  }
}
