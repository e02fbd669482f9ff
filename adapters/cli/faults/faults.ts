import { type Fault, type FaultDelay, randomSeed } from '../../../src/testing/store/fault-list.ts'
import { isPersistent } from '../engines/back-end.ts'
import type { ServeFlags } from '../terminal/flags.ts'

/** Adds, lists and ends faults. */
export interface FaultControl {
  add(fault: Fault): void
  /** Returns the faults, the newest first. */
  inForce(): readonly Fault[]
  clear(): void
}

interface FaultFlags {
  readonly delay?: FaultDelay | undefined
  readonly fail?: number | undefined
  readonly faultSeed?: number | undefined
}

/** Throws for a seed that would have no effect. */
export function checkFaultFlags({ delay, fail, faultSeed }: FaultFlags): void {
  if (faultSeed !== undefined && delay === undefined && fail === undefined)
    throw new Error('--fault-seed: expected --delay or --fail too, whose delays and failures the seed repeats')
}

/** Returns whether a service can have faults. The page of a file or a database must not add any. */
export function hasFaults(flags: ServeFlags): boolean {
  return !isPersistent(flags) || flags.delay !== undefined || flags.fail !== undefined
}

/** Returns the faults of `--delay` and `--fail`. */
export function faultsOfFlags({ delay, fail, faultSeed }: FaultFlags): readonly Fault[] {
  const always = { calls: Number.POSITIVE_INFINITY, seed: faultSeed ?? randomSeed() }
  return [
    ...(delay === undefined ? [] : [{ ...always, part: 'connection', action: 'delay', milliseconds: delay } as const]),
    ...(fail === undefined ? [] : [{ ...always, part: 'storage', action: 'fail', chance: fail } as const]),
  ]
}

/** Returns a fault in words, such as `connection: delay 100 to 800 ms, seed 7`. */
export function faultText({ part, action, milliseconds, chance, operation, key, calls, seed }: Fault): string {
  const wait = milliseconds === undefined ? '' : ` ${[milliseconds].flat().join(' to ')} ms`
  return [
    `${part}: ${action}${wait}`,
    ...(chance === undefined ? [] : [`chance ${chance}`]),
    ...(operation === undefined ? [] : [`only ${operation}`]),
    ...(key === undefined ? [] : [`only the key ${key}`]),
    ...(Number.isFinite(calls) ? [`${calls} more`] : []),
    ...(seed === undefined ? [] : [`seed ${seed}`]),
  ].join(', ')
}
