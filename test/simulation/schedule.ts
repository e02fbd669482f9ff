// A schedule lists what happens in one simulation. It is generated from a seed, and shortened after a failure.

/** `pick` selects one of the statements, time limits or ids that exist at that moment. An impossible step does nothing. */
export type Step =
  | { readonly kind: 'create'; readonly process: number }
  | { readonly kind: 'createOnce'; readonly process: number; readonly key: number; readonly changed: boolean }
  | { readonly kind: 'list'; readonly process: number; readonly onward: boolean; readonly status: boolean }
  | { readonly kind: 'get'; readonly process: number; readonly pick: number }
  | { readonly kind: 'import'; readonly chooses: boolean }
  | { readonly kind: 'truncate'; readonly restarts: boolean }
  | { readonly kind: 'run'; readonly pick: number; readonly through: boolean }
  | { readonly kind: 'commit'; readonly pick: number }
  | { readonly kind: 'lose'; readonly pick: number }
  | { readonly kind: 'refuse'; readonly pick: number; readonly late: boolean }
  | { readonly kind: 'timeout'; readonly pick: number }
  | { readonly kind: 'crash'; readonly further: number; readonly hangs: boolean }

export interface Schedule {
  readonly seed: number
  readonly processes: number
  /** If true, a step `run` leaves a statement that waits for the disk uncommitted. A later step may commit it. */
  readonly slowDisk: boolean
  readonly steps: readonly Step[]
}

/** How often a kind of step occurs, compared with other kinds. Each schedule draws one of the numbers of each kind. */
const WEIGHTS: Readonly<Record<Step['kind'], readonly number[]>> = {
  create: [4, 8, 12],
  createOnce: [0, 6, 12],
  list: [0, 2],
  get: [0, 1],
  import: [0, 1],
  truncate: [0, 0, 1],
  run: [16, 24],
  commit: [6, 12, 20],
  lose: [0, 1, 2],
  refuse: [0, 1, 2],
  timeout: [0, 0, 1],
  crash: [0, 1],
}

export function drawSchedule(seed: number): Schedule {
  const random = generator(seed)
  const draw = (below: number) => Math.floor(random() * below)
  const chance = (probability: number) => random() < probability
  const processes = 2 + draw(3)
  const keys = 1 + draw(2)
  const slowDisk = chance(0.5)
  const [through, changes] = [random(), random() / 4]
  /** Contains each kind of step as many times as its weight says. */
  const kinds = Object.entries(WEIGHTS).flatMap(([kind, choices]) =>
    Array<Step['kind']>(choices[draw(choices.length)] as number).fill(kind as Step['kind']),
  )

  function drawStep(): Step {
    const kind = kinds[draw(kinds.length)] as Step['kind']
    const [process, pick] = [draw(processes), draw(1_000)]
    if (kind === 'create') return { kind, process }
    if (kind === 'createOnce') return { kind, process, key: 1 + draw(keys), changed: chance(changes) }
    if (kind === 'list') return { kind, process, onward: chance(0.5), status: chance(0.5) }
    if (kind === 'get') return { kind, process, pick }
    if (kind === 'import') return { kind, chooses: chance(0.3) }
    if (kind === 'truncate') return { kind, restarts: chance(0.5) }
    if (kind === 'run') return { kind, pick, through: chance(through) }
    if (kind === 'refuse') return { kind, pick, late: chance(0.5) }
    if (kind === 'crash') return { kind, further: draw(3), hangs: chance(0.5) }
    return { kind, pick }
  }
  return { seed, processes, slowDisk, steps: Array.from({ length: 12 + draw(36) }, drawStep) }
}

/** Removes and simplifies steps as long as the schedule still `fails`. */
export async function shortest(schedule: Schedule, fails: (schedule: Schedule) => Promise<boolean>): Promise<Schedule> {
  let best = schedule
  const attempt = async (steps: readonly Step[]) => {
    const isBetter = await fails({ ...best, steps })
    if (isBetter) best = { ...best, steps }
    return isBetter
  }
  for (let size = best.steps.length >> 1; size > 0; ) {
    let isChanged = false
    for (let start = best.steps.length - size; start >= 0; start--)
      if (await attempt(best.steps.toSpliced(start, size))) isChanged = true
    if (size === 1)
      for (const [index, step] of best.steps.entries())
        for (const simpler of simplerSteps(step))
          if (await attempt(best.steps.with(index, simpler))) {
            isChanged = true
            break
          }
    if (!isChanged) size >>= 1
  }
  return best
}

function simplerSteps(step: Step): readonly Step[] {
  const simpler: Step[] = []
  if ('pick' in step) for (let pick = 0; pick < Math.min(step.pick, 3); pick++) simpler.push({ ...step, pick })
  if ('process' in step) for (let process = 0; process < step.process; process++) simpler.push({ ...step, process })
  if (step.kind === 'run' && !step.through) simpler.push({ ...step, through: true })
  if (step.kind === 'createOnce') simpler.push({ kind: 'create', process: step.process })
  return simpler
}

/** Returns a generator of random numbers below 1 (the algorithm "mulberry32"). */
function generator(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
