import type { Arbitrary } from 'fast-check'
import type { Clock, MaybePromise } from '../../ports.ts'
import { type ManualClock, manualClock } from '../clock.ts'
import { recordSteps, type Steps, throwReport } from './report.ts'

/** The module `fast-check`, an optional peer dependency. */
export type FastCheck = typeof import('fast-check')

/** The functions of a test runner that a suite needs: those of vitest, node:test, bun:test or Jest. */
export interface TestRunner {
  /** Names a group of tests. */
  describe(name: string, body: () => void): unknown
  /**
   * Adds a test, which fails if its body rejects. A test that does not apply calls `skip` of the context that vitest and node:test
   * pass to the body.
   */
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
  /**
   * Opens the content of the port again, as after the end of the process, and returns the new port. It must not save anything
   * first. `close` releases both. A storage and a key store must keep their content; `quotaContract` does not call it.
   *
   * @default the tests that call it are skipped
   */
  readonly reopen?: (() => MaybePromise<Port>) | undefined
}

/** The options that all suites have. */
export interface SuiteOptions<Port> {
  /** The name of the port in test titles. */
  readonly name: string
  /** Opens a port without content. A key store and a quota store must read the time from `clock`. */
  open(clock: Clock): Promise<Opened<Port>>
  /** The number of random sequences of calls. @default 30 */
  readonly runs?: number | undefined
  /** Repeats the random sequences of a failed test, whose report has this number. @default a new number for each test */
  readonly seed?: number | undefined
}

/** The options of a suite whose sequences have a length of choice. */
export interface SequenceOptions<Port> extends SuiteOptions<Port> {
  /** The largest number of calls in one sequence. @default 60 */
  readonly commands?: number | undefined
}

/** Ends a test that does not apply to the port, so that the runner reports it as skipped. */
export class NotApplicable extends Error {}

/** Uses a port with checks of its results. */
export type Use<Checked> = (checked: Checked) => Promise<void>

/** Adds the tests of one suite. */
interface Suite<Checked> {
  /** Adds tests, each of one rule by a fixed example. */
  examples(uses: Readonly<Record<string, Use<Checked>>>): void
  /** Adds a test with random sequences of at most `longest` calls. @default 60 */
  sequences(title: string, calls: (fc: FastCheck) => readonly Arbitrary<Use<Checked>>[], longest?: number): void
  /** Adds a test with random values. Failures are shrunk unless `endOnFailure`. */
  property<Value>(
    title: string,
    values: (fc: FastCheck) => Arbitrary<Value>,
    use: (checked: Checked, value: Value, fc: FastCheck) => Promise<void>,
    settings?: { readonly numRuns?: number; readonly endOnFailure?: boolean },
  ): void
}

/** The number of runs that look for a smaller example after a failure. Slow databases would exceed the time limit of a test. */
const MOST_SHRINKS = 500

/**
 * Returns functions that add tests. Each run opens a new port, and closes it at the end.
 *
 * @param contract - the name of the suite's function, for reports
 * @param check - returns the port with checks of its results
 */
export function suiteOf<Port, Checked extends object>(
  runner: TestRunner,
  contract: string,
  { runs = 30, seed, open }: SuiteOptions<Port>,
  check: (port: Port, steps: Steps, clock: ManualClock, reopen: () => Promise<Port>) => MaybePromise<Checked>,
): Suite<Checked> {
  const addTest = (title: string, body: () => Promise<void>) =>
    runner.test(title, async function () {
      // biome-ignore lint/complexity/noArguments: with a parameter, Jest passes a callback, and vitest's `test.extend` reads its name
      const context = arguments[0] as { skip?(reason: string): unknown } | undefined
      try {
        await body()
      } catch (error) {
        if (!(error instanceof NotApplicable)) throw error
        context?.skip?.(error.message)
      }
    })
  const run = async (use: Use<Checked>) => {
    const clock = manualClock()
    const opening = recordSteps()
    const opened = await opening.call('open()', () => open(clock), 'it must return { port, close }')
    const { port, close, reopen } = Object(opened) as Partial<Opened<Port>>
    if (!port || typeof close !== 'function')
      return opening.check(false, 'open() returned another value than { port, close }', '{ port, close }', opened, [])
    const closing = () => recordSteps().call('close()', close, 'it must release the port')
    const steps = recordSteps()
    const openAgain = async () => {
      if (!reopen) throw new NotApplicable('open() returned no function reopen')
      const reopened = await steps.call(
        'reopen()',
        reopen,
        'it must return the port with its content',
        () => 'the port',
      )
      const isPort = typeof reopened === 'object' && reopened !== null && !('port' in reopened)
      steps.check(isPort, 'reopen() returned another value than the port', 'the port alone', reopened)
      return reopened
    }
    try {
      await use(await check(port, steps, clock, openAgain))
    } catch (error) {
      await closing().catch(() => undefined)
      throw error
    }
    await closing()
  }
  const property: Suite<Checked>['property'] = (title, values, use, settings) =>
    addTest(title, async () => {
      const fc = await fastCheckOf(runner.fc)
      let runsAfterFailure = 0
      const property = fc.asyncProperty(values(fc), async (value) => {
        if (runsAfterFailure > MOST_SHRINKS) return
        if (runsAfterFailure > 0) runsAfterFailure++
        await run((checked) => use(checked, value, fc)).catch((error) => {
          runsAfterFailure ||= error instanceof NotApplicable ? MOST_SHRINKS + 1 : 1
          throw error
        })
      })
      const result = await fc.check(property, { numRuns: runs, ...(seed !== undefined && { seed }), ...settings })
      if (result.failed) throwReport(result.errorInstance, `add seed: ${result.seed} to the options of ${contract}.`)
    })
  return {
    property,
    examples(uses) {
      for (const [title, use] of Object.entries(uses))
        addTest(title, () =>
          run(use).catch((error) => throwReport(error, `this test alone, "${title}". It has no random values.`)),
        )
    },
    sequences: (title, calls, longest = 60) =>
      property(
        title,
        (fc) => {
          const toCommand = (use: Use<Checked>) => ({
            check: () => true,
            run: (_model: object, checked: Checked) => use(checked),
          })
          const commands = calls(fc).map((call) => call.map(toCommand))
          return fc.commands(commands, { maxCommands: longest, size: 'max' })
        },
        (real, sequence, fc) => fc.asyncModelRun(() => ({ model: {}, real }), sequence),
      ),
  }
}

/** Generates uses of a port, each with a value. */
export function usesWith<Checked, Value>(
  values: Arbitrary<Value>,
  use: (checked: Checked, value: Value) => unknown,
): Arbitrary<Use<Checked>> {
  return values.map(
    (value): Use<Checked> =>
      async (checked) =>
        void (await use(checked, value)),
  )
}

const NOT_FOUND = ['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND']

/** Returns the `fast-check` that the runner has given, or imports it. The import is dynamic, so that only the suites need it. */
async function fastCheckOf(fc: object | undefined): Promise<FastCheck> {
  // The public type is `object`, because type declarations must not need an optional package.
  if (fc) return fc as FastCheck
  try {
    return await import('fast-check')
  } catch (cause) {
    if (!NOT_FOUND.includes((cause as { code?: string }).code ?? '')) throw cause
    throw new Error('the contract suites need the package fast-check: npm install --save-dev fast-check', { cause })
  }
}
