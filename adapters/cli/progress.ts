const WIDTH = 30

/** A bar on standard error that is drawn over and over; nothing at all where that is not a terminal. */
export function progressBar(total: number): { show(done: number): void; end(): void } {
  const { stderr } = process
  if (!stderr.isTTY || process.env.TERM === 'dumb' || total === 0) return { show: () => {}, end: () => {} }
  return {
    show(done) {
      const text = `${String(Math.floor((done / total) * 100)).padStart(3)} %  ${done} of ${total}`
      stderr.write(`\r${barOf(done / total, (stderr.columns || 80) - text.length - 4)}${text}`)
    },
    end: () => void stderr.write('\r\x1b[K'),
  }
}

/** What is wider than the terminal would begin a new line each time. */
function barOf(part: number, room: number): string {
  const width = Math.min(WIDTH, room)
  return width < 1 ? '' : `[${'#'.repeat(Math.floor(part * width)).padEnd(width, '.')}] `
}
