/** Asks again and again, a few milliseconds apart, until it is so. A condition that throws is not so yet. */
export async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition().catch(() => false))) await new Promise((resolve) => setTimeout(resolve, 5))
}
