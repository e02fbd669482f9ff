// Keep the real timer: a test may replace the global timers with fake timers.
const { setTimeout } = globalThis

/** Repeats a check every few milliseconds until it returns true. If the check throws, it is repeated too. */
export async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition().catch(() => false))) await new Promise((resolve) => setTimeout(resolve, 5))
}
