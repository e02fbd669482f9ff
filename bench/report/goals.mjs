import { earlierOf } from '../contestants/index.mjs'
import { bases, figures, number, spread, table, workNames } from './figures.mjs'

/** The ratios of CPU times that we want to reach: the group, the base, and the highest ratio of each kind of work. */
const cpuGoals = [
  { group: 'Node', base: bases.Node, goals: { list: 1, varied: 1.15, create: 1.1 } },
  { group: 'Node', base: 'Fastify', goals: { list: 0.75, varied: 0.6, create: 0.9 } },
  { group: 'Node', base: 'Hono', goals: { list: 0.25, varied: 0.25, create: 0.25 } },
  { group: 'Node', base: 'Express', goals: { list: 0.15, varied: 0.15, create: 0.15 } },
  { group: 'Bun', base: 'Elysia', goals: { list: 1, create: 1 } },
  { group: 'Bun', base: bases.Bun, goals: { list: 1.5, create: 1.5 } },
  { group: 'Deno', base: bases.Deno, goals: { list: 1.25, create: 1.7 } },
  { group: 'Mounted on Express', base: 'empty handler', goals: { list: 1.15 } },
  { group: 'Mounted on Fastify', base: 'empty handler', goals: { list: 1.15 } },
  { group: 'Mounted on Hono', base: 'empty handler', goals: { list: 1.15 } },
  { group: 'Node', base: bases.Node, goals: { 401: 1, 429: 1 } },
]
const handleGoals = { list: 0.75, varied: 0.6, create: 0.6 }

/** Returns all goals: what is measured, the goal, the figure, and whether the figure reaches the goal. */
export function goalsOf(results) {
  const found = figures(results)
  const before = results.settings.earlier
  const goals = []
  for (const runtime of ['node', 'bun']) {
    for (const [work, goal] of Object.entries(handleGoals)) {
      const one = found.handle(runtime, work)
      const measure = `\`handle\` on ${runtime === 'node' ? 'Node' : 'Bun'}, ${workNames[work]}, time against the earlier build`
      if (one?.ratio !== undefined) goals.push({ measure, goal, value: one.ratio, text: spread(one), before: '1' })
    }
  }
  for (const { group, name = found.ours, base, goals: ofWork } of cpuGoals) {
    for (const [work, goal] of Object.entries(ofWork)) {
      const one = found.ratio(group, name, base, work)
      goals.push({
        measure: `${group}, ${workNames[work]}, CPU time against ${base}`,
        goal,
        value: one.ratio,
        text: spread(one),
        before: before && number(found.ratio(group, earlierOf(name), base, work).ratio),
      })
    }
  }
  for (const [group, base] of Object.entries(bases)) {
    for (const work of ['list', 'create']) {
      const ratioOf = (name) => found.latency(group, name, work).p99 / found.latency(group, base, work).p99
      goals.push({
        measure: `${group}, ${work}, p99 at half of the peak rate against ${base}`,
        goal: 1.5,
        value: ratioOf(found.ours),
        before: before && number(ratioOf(earlierOf(found.ours))),
      })
    }
  }
  return [...goals, ...scaleGoals(found)].map((one) => ({
    ...one,
    text: one.text ?? number(one.value),
    isReached: Number(one.value.toFixed(2)) <= one.goal,
  }))
}

function scaleGoals({ animals, keys }) {
  if (!animals(1_000_000)) return []
  const earlier = (count) => animals(count).earlier
  const earlierKeys = (count) => keys(count).earlier
  const before = (figure) => (earlier(1_000) ? number(figure(earlier, earlierKeys)) : undefined)
  const one = (measure, goal, figure) => ({ measure, goal, value: figure(animals, keys), before: before(figure) })
  return [
    one('list among 1,000,000 animals, any filter, time against 1,000', 1.1, (animals) =>
      Math.max(...animals(1_000_000).pages.map((time, i) => time / animals(1_000).pages[i])),
    ),
    one('bytes per animal beyond its name, among 1,000,000', 130, (animals) => animals(1_000_000).bytes),
    one('count with 1,000,000 keys, time against 10 keys', 1.5, (_, keys) => keys(1_000_000).time / keys(10).time),
    one(
      'memory of the counts with 1,000,000 keys, against 100,000 keys',
      1.1,
      (_, keys) => keys(1_000_000).bytes / keys(100_000).bytes,
    ),
  ]
}

/** Returns the goals as a table. */
export function goalTable(goals) {
  const rows = goals.map(({ measure, goal, before = '', text, isReached }) => [
    measure,
    `at most ${goal}`,
    before,
    text,
    isReached ? 'yes' : '**no**',
  ])
  return table(['Measure', 'Goal', 'Earlier build', 'Now', 'Reached'], rows)
}
