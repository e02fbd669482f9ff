import { groups } from '../contestants/index.mjs'
import { WORKS } from '../load/works.mjs'
import { median, ratioOf } from '../support/statistics.mjs'
import { bases, figures, integer, number, spread, table, workNames } from './figures.mjs'

const groupNamed = (group) => groups.find(({ name }) => name === group)
/** Our rows are bold, so that they are found at once. */
const emphasized = (name, ours) => (name === ours ? `**${name}**` : name)

/** A table for each runtime: the CPU time and its ratio to the bare handler, for each kind of work. */
export function cpuTables(results) {
  const { cpu, ratio, http, ours } = figures(results)
  return Object.keys(bases)
    .map((group) => {
      const { servers } = groupNamed(group)
      const rows = servers.map(({ name }) => {
        const cells = WORKS.map((work) => {
          const value = ratio(group, name, servers[0].name, work).ratio.toFixed(2)
          return `${number(cpu(group, name, work))} (${value})`
        })
        return [emphasized(name, ours), ...cells, `${http(group, name, 'list').memory} MB`]
      })
      return `### On ${group}\n\n${table(['µs', ...WORKS.map((work) => workNames[work]), 'Memory'], rows)}`
    })
    .join('\n\n')
}

export function connectionsTable(results) {
  const { cpu, ours } = figures(results)
  const cases = ['list', 'create'].flatMap((work) => [1, 32, 256].map((connections) => ({ work, connections })))
  const rows = Object.keys(bases).flatMap((group) =>
    groupNamed(group).servers.map(({ name }) => [
      group,
      emphasized(name, ours),
      ...cases.map(({ work, connections }) => number(cpu(group, name, work, connections))),
    ]),
  )
  return table(['', 'Server', ...cases.map(({ work, connections }) => `${work}, ${connections}`)], rows)
}

export function mountTable(results) {
  const { cpu, ratio, ours } = figures(results)
  const rows = groups
    .filter(({ name }) => name.startsWith('Mounted'))
    .flatMap(({ name: group, servers }) =>
      servers
        .filter(({ name }) => name !== ours)
        .map((base) => [
          group.replace('Mounted on ', ''),
          base.name,
          ...['list', 'create'].flatMap((work) => [
            number(cpu(group, base.name, work)),
            number(cpu(group, ours, work)),
            spread(ratio(group, ours, base.name, work)),
          ]),
        ]),
    )
  const head = ['list', 'create'].flatMap((work) => [`${work}: base`, 'ours', 'ratio'])
  return table(['Host', 'Base', ...head], rows)
}

export function mockTable(results) {
  const { cpu, http, ours } = figures(results)
  const group = 'Mock servers'
  const rows = groupNamed(group).servers.map(({ name }) => [
    emphasized(name, ours),
    ...['list', 'create'].flatMap((work) => [
      `${number(cpu(group, name, work))} µs`,
      `${integer(median(http(group, name, work).rate.flat()))}/s`,
    ]),
    `${http(group, name, 'list').memory} MB`,
  ])
  return table(['Server', 'list', 'requests', 'create', 'requests', 'Memory'], rows)
}

export function latencyTable(results) {
  const { latency, ours } = figures(results)
  const rows = Object.keys(bases).flatMap((group) =>
    groupNamed(group).servers.flatMap(({ name }) =>
      ['list', 'create'].map((work) => {
        const { rate, p50, p99, p999 } = latency(group, name, work)
        return [group, emphasized(name, ours), work, `${integer(rate)}/s`, integer(p50), integer(p99), integer(p999)]
      }),
    ),
  )
  return table(['', 'Server', 'Work', 'Rate', 'p50, µs', 'p99, µs', 'p99.9, µs'], rows)
}

export function handleTable({ parts: { handle } }) {
  const rows = handle.map(({ runtime, work, time, earlier, ...ratio }) => [
    runtime === 'node' ? 'Node.js' : 'Bun',
    workNames[work],
    time.toFixed(2),
    ...(earlier === undefined ? [] : [earlier.toFixed(2), spread(ratio)]),
  ])
  const earlier = handle.some((one) => one.earlier !== undefined) ? ['earlier build', 'ratio'] : []
  return table(['', 'Work', 'µs', ...earlier], rows)
}

export function scaleTables({ parts: { scale } }) {
  const animals = scale.animals.map(({ count, pages, create, bytes }) => [
    integer(count),
    Math.max(...pages).toFixed(3),
    create.toFixed(2),
    integer(bytes),
  ])
  const keys = scale.keys.map(({ count, time, bytes }) => [
    integer(count),
    time.toFixed(3),
    `${integer(bytes / 1024)} KiB`,
  ])
  return [
    table(['Animals', 'list, µs', 'create, µs', 'bytes per animal, beyond its name'], animals),
    table(['Keys', 'count, µs', 'memory of all counts'], keys),
  ].join('\n\n')
}

export function startTable({ parts: { start } }) {
  return table(
    ['', 'Server', 'ms'],
    start.start.map(({ group, name, time }) => [group, name, integer(time)]),
  )
}

export function sizeTable({ parts: { start } }) {
  return table(
    ['Import', 'kB'],
    start.sizes.map(({ entry, bytes }) => [`\`${entry}\``, (bytes / 1000).toFixed(1)]),
  )
}

export function engineTable({ parts: { engines } }) {
  const rows = []
  for (const { group, name, work, rate, base } of engines) {
    if (name !== 'petstore-kit') continue
    const bare = base ?? engines.find((one) => one.group === group && one.work === work && one.name !== name)?.rate
    if (bare === undefined) continue
    const rates = [bare, rate].map((samples) => `${integer(median(samples.flat()))}/s`)
    rows.push([group, work, ...rates, spread(ratioOf(rate, bare))])
  }
  return table(['Engine', 'Work', 'Bare driver', 'petstore-kit', 'Ratio of the rates: higher is better'], rows)
}

export function writesTable({ parts: { writes } }) {
  const rows = writes.map(({ way, processes, delay, driver, kit, ...ratio }) => [
    way,
    processes,
    `${delay} ms`,
    `${integer(driver)}/s`,
    `${integer(kit)}/s`,
    spread(ratio),
  ])
  return table(['Creates', 'Processes', 'Each commit takes longer by', 'Bare driver', 'petstore-kit', 'Ratio'], rows)
}
