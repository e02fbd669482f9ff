/** Writes a line to standard output, and rejects where nobody takes it. */
export function print(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(`${text}\n`, (error) => (error ? reject(error) : resolve()))
  })
}

/**
 * Lets whoever reads the output leave before all is told, as `head` does: a server goes on, and no stack is shown. Of
 * other faults, such as a full disk, the exit code tells.
 */
export function survivePipes(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', ({ code }: NodeJS.ErrnoException) => {
      if (code !== 'EPIPE') process.exitCode = 1
    })
  }
}
