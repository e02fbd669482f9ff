import { expect } from 'vitest'
import type { Clock, Pet, PetQuery } from '../../../../../src/index.ts'
import type { TestRunner } from '../../../../../src/testing/index.ts'

/** A fault of a port, and the title of the first test that must fail. */
export interface PlantedFault<Port> {
  readonly fails: string
  /** Returns the faulty methods. `sound` is a port without a fault. */
  plant(sound: Port, clock: Clock): Partial<Port>
}

export type PlantedFaults<Port> = Readonly<Record<string, PlantedFault<Port>>>

export const timer = () => new Promise<void>((resolve) => setTimeout(resolve, 0))
export const tick = () => new Promise<void>((resolve) => setImmediate(resolve))
export const close = async () => {}

/** Returns the function `open` of a suite. It opens a port with a fault. */
export function openFaulty<Port extends object>(
  openSound: (clock: Clock) => Port,
  plant: PlantedFault<Port>['plant'],
): (clock: Clock) => Promise<{ port: Port; close: typeof close }> {
  return async (clock) => {
    const sound = openSound(clock)
    const changed = plant(sound, clock)
    return { port: { ...sound, ...changed }, close }
  }
}

/** Returns the page of a storage without a fault that has these animals. */
export function pageOf(pets: readonly Pet[], { limit, after, status }: PetQuery): Pet[] {
  return pets
    .filter((pet) => (after === undefined || pet.id > after) && (status === undefined || pet.status === status))
    .slice(0, limit)
}

export interface Failure {
  readonly title: string
  readonly report: string
}

/** Runs the tests of a suite until one fails. */
export async function firstFailure(suite: (runner: TestRunner) => void): Promise<Failure> {
  const tests = new Map<string, () => Promise<void>>()
  suite({ describe: (_name, body) => body(), test: (title, body) => void tests.set(title, body) })
  for (const [title, run] of tests) {
    const report = await run().then(() => '', String)
    if (report !== '') return { title, report }
  }
  return { title: 'no test of the suite has failed', report: '' }
}

/** Checks that the first failed test has this title, and that its report fits a screen. */
export function expectFailure({ title, report }: Failure, fails: string): void {
  expect(title).toBe(fails)
  const lines = report.split('\n')
  expect(lines.length).toBeLessThanOrEqual(24)
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan(260)
}
