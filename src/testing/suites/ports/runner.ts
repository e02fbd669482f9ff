import type { Arbitrary } from 'fast-check'
import type { Clock, MaybePromise } from '../../../ports.ts'
import { manualClock } from '../../store/clock.ts'
import { recordSteps, showTime, throwReport } from './report.ts'

export type FastCheck = typeof import('fast-check')

/**
 * The functions of a test runner that a suite needs: those of vitest, node:test, bun:test or Jest.
 */
export interface TestRunner {
  /** Groups the tests that `body` adds. */
  describe(name: string, body: () => void): unknown
  /**
   * Adds a test. To skip it, `body` calls `skip` of the context that vitest and node:test pass to
   * `body`.
   */
  test(name: string, body: () => Promise<void>): unknown
  /**
   * The module `fast-check`. Pass it where `import()` fails, as in CommonJS under Jest.
   * @default it is imported
   */
  readonly fc?: object | undefined
}

/** The return value of `open` of a suite. */
export interface Opened<Port> {
  /** The port: new, empty, and used by nothing else. */
  readonly port: Port
  /** Releases the port. Called for each opened port, also after a failure. */
  close(): Promise<void>
  /**
   * Returns a new port with the same content, as after a crash of the process: do not flush unsaved
   * data first. `close` releases both ports. Not called for a quota store.
   * @default the tests that call it are skipped
   */
  readonly reopen?: (() => MaybePromise<Port>) | undefined
}

/** The options that all suites have. */
export interface SuiteOptions<Port> {
  /** The name of the port in test titles. */
  readonly name: string
  /**
   * Opens an empty port, which must read the time from `clock`. Without a clock, it must read the
   * time as in production.
   */
  open(clock?: Clock): Promise<Opened<Port>>
  /** The number of random sequences of calls. @default 30 */
  readonly runs?: number | undefined
  /**
   * The seed of the random values. To repeat a failed test, pass the seed in its report.
   * @default a new seed for each test
   */
  readonly seed?: number | undefined
}

/** The options of a suite, with the length of its random sequences. */
export interface SequenceOptions<Port> extends SuiteOptions<Port> {
  /** The largest number of calls in one sequence. @default 60 */
  readonly commands?: number | undefined
}

/** Ends a test that does not apply to the port, so that the runner reports it as skipped. */
export class NotApplicable extends Error {}

/** An opened port with its clock, and the record of its calls for the report. */
export type Session<Port> = Awaited<ReturnType<typeof openSession<Port>>>

/** The body of a test. It gets the port, wrapped so that each call is checked. */
export type Use<Checked> = (checked: Checked) => unknown

/**
 * How often a failed test is repeated to find a simpler failure. More would exceed the time limit
 * of a test on slow databases.
 */
const MOST_SHRINKS = 500

async function openSession<Port>(open: SuiteOptions<Port>['open']) {
  const clock = manualClock()
  const steps = recordSteps()
  const opened = await steps.call('open()', () => open(clock), 'open() must return { port, close }')
  let { port, close, reopen } = Object(opened) as Opened<Port>
  steps.forget()
  const isOpened = Boolean(port) && typeof close === 'function'
  steps.check(isOpened, 'open() did not return { port, close }', '{ port, close }', opened)
  return {
    steps,
    /** Returns the port. After `reopen`, this is the new one. */
    port: () => port,
    now: clock.now,
    setClock(time: number): void {
      if (time === clock.now()) return
      clock.set(time)
      steps.note(`the clock goes to ${showTime(time)}`)
    },
    async reopen(): Promise<void> {
      if (!reopen) throw new NotApplicable('open() did not return a function `reopen`')
      port = await steps.call('reopen()', reopen, 'reopen() must return a port with the same content', () => 'the port')
      const isPort = typeof port === 'object' && port !== null && !('port' in port)
      steps.check(isPort, 'reopen() did not return a port', 'the port alone', port)
    },
    close: () => steps.call('close()', close, 'close() must close what open() opened'),
  }
}

/**
 * Returns functions that add tests. Each run of a test has a new port.
 * @param contract - the name of the suite's function, for reports
 * @param check - adds checks to a port
 */
export function suiteOf<Port, Checked extends object>(
  runner: TestRunner,
  contract: string,
  { runs = 30, seed, open }: SuiteOptions<Port>,
  check: (session: Session<Port>) => MaybePromise<Checked>,
) {
  const addTest = (title: string, body: () => Promise<void>) =>
    runner.test(title, async function () {
      // biome-ignore lint/complexity/noArguments: a declared parameter makes Jest wait for a callback, and `test.extend` throw
      const context = arguments[0] as { skip?(reason: string): unknown } | undefined
      try {
        await body()
      } catch (error) {
        if (!(error instanceof NotApplicable)) throw error
        context?.skip?.(error.message)
      }
    })

  async function run(use: Use<Checked>, openPort = open): Promise<void> {
    const session = await openSession(openPort)
    try {
      await use(await check(session))
    } catch (error) {
      await session.close().catch(() => undefined)
      throw error
    }
    await session.close()
  }

  function examples(uses: Readonly<Record<string, Use<Checked>>>, openPort = open): void {
    for (const [title, use] of Object.entries(uses))
      addTest(title, () =>
        run(use, openPort).catch((error) =>
          throwReport(error, `this test alone, "${title}". It has no random values.`),
        ),
      )
  }

  /**
   * Adds a test with random values. After a failure, looks for simpler values that fail, unless
   * `endOnFailure`.
   */
  function property<Value>(
    title: string,
    values: (fc: FastCheck) => Arbitrary<Value>,
    use: (checked: Checked, value: Value) => unknown,
    settings?: { readonly numRuns?: number; readonly endOnFailure?: boolean },
  ): void {
    addTest(title, async () => {
      const fc = await fastCheckOf(runner.fc)
      let runsLeft = Number.POSITIVE_INFINITY
      const property = fc.asyncProperty(values(fc), async (value) => {
        if (runsLeft-- <= 0) return
        await run((checked) => use(checked, value)).catch((error) => {
          runsLeft = Math.min(runsLeft, error instanceof NotApplicable ? 0 : MOST_SHRINKS)
          throw error
        })
      })
      const result = await fc.check(property, { numRuns: runs, ...(seed !== undefined && { seed }), ...settings })
      if (result.failed) throwReport(result.errorInstance, `add seed: ${result.seed} to the options of ${contract}.`)
    })
  }

  /** Adds a test with random sequences of at most `longest` calls. */
  function sequences(title: string, calls: (fc: FastCheck) => Arbitrary<Use<Checked>>[], longest = 60): void {
    const sequence = (fc: FastCheck) => fc.array(fc.oneof(...calls(fc)), { maxLength: longest, size: 'max' })
    property(title, sequence, async (checked, uses) => {
      for (const use of uses) await use(checked)
    })
  }
  /** Adds tests of a port that reads the time as in production. */
  const examplesWithoutClock = (uses: Readonly<Record<string, Use<Checked>>>) => examples(uses, () => open())

  return { examples, examplesWithoutClock, property, sequences }
}

export function usesWith<Checked, Value>(
  values: Arbitrary<Value>,
  use: (checked: Checked, value: Value) => unknown,
): Arbitrary<Use<Checked>> {
  return values.map((value) => (checked) => use(checked, value))
}

const NOT_FOUND = ['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND']

/**
 * Returns the runner's `fast-check`, or imports it. With a static import, `createTestPetStore`
 * would also need `fast-check`.
 */
async function fastCheckOf(fc: object | undefined): Promise<FastCheck> {
  // The public type is `object`: with its real type, programs without fast-check could not compile
  // the declarations.
  if (fc) return fc as FastCheck
  try {
    return await import('fast-check')
  } catch (cause) {
    if (!NOT_FOUND.includes((cause as { code?: string }).code ?? '')) throw cause
    throw new Error('the contract suites need the package fast-check: npm install --save-dev fast-check', { cause })
  }
}
