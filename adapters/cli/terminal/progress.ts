import { systemClock } from '../../../src/support/time.ts'
import { animals } from './output.ts'

/** Shows on a terminal how many animals are added, how fast, and how long the rest will take. */
export function showProgress(total: number) {
  const { stderr } = process
  const startedAt = systemClock.monotonic()
  let shownAt = startedAt
  let done = 0
  const show = (now: number) => {
    const rate = (done * 1_000) / Math.max(1, now - startedAt)
    const rest = Math.ceil((total - done) / Math.max(1, rate))
    stderr.write(
      `\r${done.toLocaleString('en')} of ${animals(total)}, ${Math.round(rate).toLocaleString('en')} per second, ${rest} s left   `,
    )
  }
  return {
    count(): void {
      done++
      if (!stderr.isTTY || done % 100 !== 0) return
      const now = systemClock.monotonic()
      if (now - shownAt < 200) return
      shownAt = now
      show(now)
    },
    end(): void {
      if (stderr.isTTY && shownAt > startedAt) stderr.write('\r\u001b[K')
    },
  }
}
