import type { Arbitrary, AsyncCommand, RunDetails } from 'fast-check'
import type { Clock, MaybePromise } from '../../../ports.ts'
import { type ManualClock, manualClock } from '../../store/clock.ts'
import { equal, reportOf, show } from './report.ts'

export type FastCheck = typeof import('fast-check')

/**
 * The functions of a test runner that a suite needs: those of vitest, node:test, bun:test or Jest.
 */
export interface TestRunner {
  /** Groups the tests that `body` adds. */
  describe(name: string, body: () => void): unknown
  /** Adds a test. vitest and node:test pass a context with `skip` to `body`. */
  test(name: string, body: () => Promise<void>): unknown
  /**
   * The module `fast-check`, where `import()` fails, as in CommonJS under Jest.
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
   * data first. Not called for a quota store.
   * @default the tests that call it are skipped
   */
  readonly reopen?: (() => MaybePromise<Port>) | undefined
}

/** The options that all suites have. */
export interface SuiteOptions<Port> {
  /** The name of the port in test titles. */
  readonly name: string
  /** Opens an empty port that reads the time from `clock`; without a clock, as in production. */
  open(clock?: Clock): Promise<Opened<Port>>
  /** The number of random sequences of calls. @default 30 */
  readonly runs?: number | undefined
  /** The largest number of calls in one sequence. @default 60 */
  readonly commands?: number | undefined
  /**
   * The seed in the report of a failed test, which repeats it.
   * @default a new seed for each test
   */
  readonly seed?: number | undefined
}

type Method<Port, Name extends keyof Port> = Extract<Port[Name], (...args: never[]) => unknown>

/** An opened port. Its methods are called by name, so that each message can say the call. */
export interface Store<Port> {
  readonly clock: ManualClock
  /** Whether the store has an optional method, or `reopen`. */
  has(name: string): boolean
  call<Name extends keyof Port & string>(
    name: Name,
    ...args: Parameters<Method<Port, Name>>
  ): Promise<Awaited<ReturnType<Method<Port, Name>>>>
  /** Makes a call, and compares its result. `null` counts as `undefined`. */
  returns<Name extends keyof Port & string>(
    name: Name,
    args: Parameters<Method<Port, Name>>,
    expected: unknown,
  ): Promise<void>
  reopen(): Promise<void>
}

/** Returns a call as text, without the options that are left out. */
export function callText(name: string, args: readonly unknown[]): string {
  const given = args.slice(0, args.findLastIndex((arg) => arg !== undefined) + 1)
  return `${name}(${given.map(show).join(', ')})`
}

/** How many of the last calls a report lists. */
const CALLS = 6
/**
 * How often a failed sequence is repeated to find a shorter one. More would exceed the time limit
 * of a test on a slow database.
 */
const MOST_SHRINKS = 500

/**
 * Returns functions that add tests. Each test, and each run of a random test, opens a store of its
 * own.
 * @param checkEmpty - throws unless a new store is empty
 */
export function suiteOf<Port extends object>(
  runner: TestRunner,
  { open, runs = 30, commands = 60, seed }: SuiteOptions<Port>,
  checkEmpty: (store: Store<Port>) => MaybePromise<void>,
) {
  type Use = (store: Store<Port>) => unknown

  async function withStore(use: Use, openPort = open): Promise<void> {
    const clock = manualClock()
    const opened = await openPort(clock)
    equal('open() must return { port, close }', [typeof opened?.port, typeof opened?.close], ['object', 'function'])
    const calls: string[] = []
    const store = storeOf(opened, clock, calls)
    try {
      await checkEmpty(store)
      await use(store)
    } catch (error) {
      await opened.close().catch(() => undefined)
      throw reportOf(error, ['  the last calls:', ...calls.slice(-CALLS).map((call) => `    ${call}`)])
    }
    await opened.close()
  }

  /** Adds a test. It is skipped if the store has not all that the test `needs`. */
  function rule(title: string, use: Use, needs: readonly string[] = [], openPort = open): void {
    runner.test(title, async function () {
      // biome-ignore lint/complexity/noArguments: a declared parameter makes Jest wait for a callback, and `test.extend` throw
      const context = arguments[0] as { skip?(reason: string): unknown } | undefined
      let missing: string | undefined
      await withStore(async (store) => {
        missing = needs.find((name) => !store.has(name))
        if (!missing) await use(store)
      }, openPort)
      if (missing) context?.skip?.(`the store has no ${missing}`)
    })
  }

  /** Adds a test of random calls, which must have the results of a model. */
  function modelTest<Model extends object>(
    title: string,
    newModel: (store: Store<Port>) => Model,
    commandsOf: (fc: FastCheck, on: On<Model, Store<Port>>) => Arbitrary<AsyncCommand<Model, Store<Port>>>[],
  ): void {
    runner.test(title, async () => {
      const fc = await fastCheckOf(runner.fc)
      const on: On<Model, Store<Port>> = (name, values, run, needs) =>
        values.map((value) => ({
          check: () => true,
          run: async (model, store) => {
            if (needs === undefined || store.has(needs)) await run(model, store, value)
          },
          toString: () => `${name}(${show(value)})`,
        }))
      const sequences = fc.commands(commandsOf(fc, on), { maxCommands: commands, size: 'max' })
      const property = fc.asyncProperty(fc.limitShrink(sequences, MOST_SHRINKS), (sequence) =>
        withStore((store) => fc.asyncModelRun(() => ({ model: newModel(store), real: store }), sequence)),
      )
      const result = await fc.check(property, { numRuns: runs, ...(seed !== undefined && { seed }) })
      if (result.failed) throw reportOf(result.errorInstance, repeatLines(result))
    })
  }

  return { rule, modelTest }
}

/** Returns an opened port whose calls are recorded in `calls`. */
function storeOf<Port extends object>(opened: Opened<Port>, clock: ManualClock, calls: string[]): Store<Port> {
  let { port } = opened
  const store: Store<Port> = {
    clock,
    has: (name) => Boolean(name === 'reopen' ? opened.reopen : port[name as keyof Port]),
    async call(name, ...args) {
      const text = callText(name, args)
      try {
        const result = await (port[name] as (...args: unknown[]) => unknown)(...args)
        calls.push(`${text} -> ${show(result)}`)
        return result as never
      } catch (cause) {
        calls.push(`${text} -> an error`)
        throw new Error(`${text} threw ${cause}`, { cause })
      }
    },
    async returns(name, args, expected) {
      equal(callText(name, args), (await store.call(name, ...args)) ?? undefined, expected)
    },
    async reopen() {
      port = (await opened.reopen?.()) as Port
      calls.push('reopen()')
      equal('reopen() must return the port alone', [typeof port, 'port' in Object(port)], ['object', false])
    },
  }
  return store
}

type Failure = Pick<RunDetails<unknown>, 'seed' | 'counterexamplePath' | 'counterexample'>

/** Says how to repeat a failed random test. */
function repeatLines({ seed, counterexamplePath, counterexample }: Failure): string[] {
  const shortest = counterexample === null ? [] : [`  the shortest sequence: ${String(counterexample)}`]
  return [...shortest, `  run it again: add seed: ${seed} to the options of the suite (path ${counterexamplePath})`]
}

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
    const advice = "npm install --save-dev fast-check; in CommonJS under Jest, also pass fc: require('fast-check')"
    throw new Error(`the contract suites need the package fast-check: ${advice}`, { cause })
  }
}

/**
 * Returns the commands that make one kind of call. They do nothing if the store has not what they
 * need.
 */
export type On<Model extends object, Real> = <Value>(
  name: string,
  values: Arbitrary<Value>,
  run: (model: Model, store: Real, value: Value) => unknown,
  needs?: string,
) => Arbitrary<AsyncCommand<Model, Real>>
