/** The two functions of a test runner that a suite needs: vitest's, node:test's, bun:test's. */
export interface TestRunner {
  /** Names a group of tests. */
  describe(name: string, body: () => void): unknown
  /** Adds a test, which fails where its body rejects. */
  test(name: string, body: () => Promise<void>): unknown
}

/** A port that a suite has opened, and how to let go of it. */
export interface Opened<Port> {
  /** The port: fresh and empty, and nobody else writes to it. */
  readonly port: Port
  /** Lets go of what the port holds; called after every run, failed ones too. */
  close(): Promise<void>
}

/** Makes one body of a test: it opens a port, and closes it whatever happens in between. */
export async function withPort<Port>(open: () => Promise<Opened<Port>>, use: (port: Port) => Promise<void>) {
  const { port, close } = await open()
  try {
    await use(port)
  } finally {
    await close()
  }
}

/** Lets everything else that waits go on, timers and sockets as well. */
export function yieldToOthers(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0))
}
