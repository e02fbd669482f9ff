import { expect } from 'vitest'
import type { Clock, Pet, PetQuery } from '../../../../../src/index.ts'
import type { TestRunner } from '../../../../../src/testing/index.ts'

/** A fault of a port, and the first line of the report about it, which names the broken rule. */
export interface PlantedFault<Port> {
  readonly report: string
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

/** Runs the tests of a suite until one fails. Returns its report. */
export async function firstFailure(suite: (runner: TestRunner) => void): Promise<string> {
  const bodies: (() => Promise<void>)[] = []
  suite({ describe: (_name, body) => body(), test: (_name, body) => bodies.push(body) })
  for (const body of bodies) {
    const report = await body().then(() => '', String)
    if (report !== '') return report
  }
  return 'no test of the suite has failed'
}

/** Checks that a report names the rule, is short, and says what to do. */
export function expectReport(report: string, firstLine: string): void {
  const lines = report.split('\n')
  expect(lines[0]).toBe(`Error: ${firstLine}`)
  expect(report).toMatch(/\n {2}expected: .+\n {2}received: .+\n(.+\n)* {2}run it again: .+$/)
  expect(lines.length).toBeLessThanOrEqual(15)
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan(300)
}
