import type { Arbitrary } from 'fast-check'
import type { Clock, MaybePromise } from '../../ports.ts'
import { type ManualClock, manualClock } from '../clock.ts'
import { recordSteps, type Steps, throwReport } from './report.ts'

export type FastCheck = typeof import('fast-check')

/** The functions of a test runner that a suite needs: those of vitest, node:test, bun:test or Jest. */
export interface TestRunner {
  /** Names a group of tests. */
  describe(name: string, body: () => void): unknown
  /** Adds a test. To skip a test, its body calls `skip` of the context that vitest and node:test pass. */
  test(name: string, body: () => Promise<void>): unknown
  /** The module `fast-check`. Pass it where `import()` fails, as in CommonJS under Jest. @default it is imported */
  readonly fc?: object | undefined
}

/** The return value of `open` of a suite. */
export interface Opened<Port> {
  /** The port: new, empty, and used by nothing else. */
  readonly port: Port
  /** Releases the port. Called for each opened port, also after a failure. */
  close(): Promise<void>
  /**
   * Returns a new port with the same content, as after a crash of the process: nothing may be saved first. `close` releases both
   * ports. Not called for a quota store.
   * @default the tests that call it are skipped
   */
  readonly reopen?: (() => MaybePromise<Port>) | undefined
}

/** The options that all suites have. */
export interface SuiteOptions<Port> {
  /** The name of the port in test titles. */
  readonly name: string
  /** Opens an empty port, which must read the time from `clock`. */
  open(clock: Clock): Promise<Opened<Port>>
  /** The number of random sequences of calls. @default 30 */
  readonly runs?: number | undefined
  /** The number in the report of a failed test, to repeat its random values. @default a new number for each test */
  readonly seed?: number | undefined
}

/** The options of a suite, with the length of its random sequences. */
export interface SequenceOptions<Port> extends SuiteOptions<Port> {
  /** The largest number of calls in one sequence. @default 60 */
  readonly commands?: number | undefined
}

/** Ends a test that does not apply to the port, so that the runner reports it as skipped. */
export class NotApplicable extends Error {}

/** The body of a test: uses a port with checks. */
export type Use<Checked> = (checked: Checked) => Promise<void>

interface Suite<Checked> {
  /** Adds tests without random values, by title. */
  examples(uses: Readonly<Record<string, Use<Checked>>>): void
  /** Adds a test with random sequences of at most `longest` calls, or 60. */
  sequences(title: string, calls: (fc: FastCheck) => readonly Arbitrary<Use<Checked>>[], longest?: number): void
  /** Adds a test with random values. After a failure, looks for a simpler one unless `endOnFailure`. */
  property<Value>(
    title: string,
    values: (fc: FastCheck) => Arbitrary<Value>,
    use: (checked: Checked, value: Value, fc: FastCheck) => Promise<void>,
    settings?: { readonly numRuns?: number; readonly endOnFailure?: boolean },
  ): void
}

/** How often a failed test is repeated to find a simpler failure. More would exceed the time limit of a test on slow databases. */
const MOST_SHRINKS = 500

/**
 * Returns functions that add tests. Each run of a test has a new port.
 * @param contract - the name of the suite's function, for reports
 * @param check - adds checks to a port
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
      const rule = 'it must return the port with its content'
      const reopened = await steps.call('reopen()', reopen, rule, () => 'the port')
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

/** Generates calls of `use` with random values. */
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

/** Returns the `fast-check` of the runner, or imports it. With a static import, `createTestPetStore` would need it too. */
async function fastCheckOf(fc: object | undefined): Promise<FastCheck> {
  // The public type is `object`: with its real type, programs without fast-check could not compile the declarations.
  if (fc) return fc as FastCheck
  try {
    return await import('fast-check')
  } catch (cause) {
    if (!NOT_FOUND.includes((cause as { code?: string }).code ?? '')) throw cause
    throw new Error('the contract suites need the package fast-check: npm install --save-dev fast-check', { cause })
  }
}
