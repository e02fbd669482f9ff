/** Repeats a check every few milliseconds until it is true. A check that throws counts as false. */
export async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition().catch(() => false))) await new Promise((resolve) => setTimeout(resolve, 5))
}
