const WIDTH = 30

/** A bar on standard error that is drawn over and over; nothing at all where that is not a terminal. */
export function progressBar(total: number): { show(done: number): void; end(): void } {
  const { stderr } = process
  if (!stderr.isTTY || process.env.TERM === 'dumb' || total === 0) return { show: () => {}, end: () => {} }
  return {
    show(done) {
      const filled = Math.floor((done / total) * WIDTH)
      const bar = '#'.repeat(filled).padEnd(WIDTH, '.')
      stderr.write(`\r[${bar}] ${String(Math.floor((done / total) * 100)).padStart(3)} %  ${done} of ${total}`)
    },
    end: () => void stderr.write('\r\x1b[K'),
  }
}
