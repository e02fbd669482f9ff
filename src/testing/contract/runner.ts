/** The functions of a test runner that a suite needs: those of vitest, node:test, bun:test or Jest. */
export interface TestRunner {
  /** Names a group of tests. */
  describe(name: string, body: () => void): unknown
  /** Adds a test, which fails if its body rejects. */
  test(name: string, body: () => Promise<void>): unknown
  /** The module `fast-check`. Pass it if `import()` does not work, as in CommonJS under Jest. @default it is imported */
  readonly fc?: object | undefined
}

/** A port that a suite has opened. */
export interface Opened<Port> {
  /** The port: new, empty, and used by nothing else. */
  readonly port: Port
  /** Releases the port. Called after every run, also after a failed run. */
  close(): Promise<void>
}

/** Opens a port, passes it to `use`, and closes it, also after an error. */
export async function withPort<Port>(open: () => Promise<Opened<Port>>, use: (port: Port) => Promise<void>) {
  const { port, close } = await open()
  try {
    await use(port)
  } finally {
    await close()
  }
}

/** Waits for one turn of the event loop. */
export function yieldToOthers(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0))
}
