import { readFileSync } from 'node:fs'
import { groups } from '../contestants/index.mjs'
import { bases, figures, integer, table } from './figures.mjs'
import { goalsOf, goalTable } from './goals.mjs'
import { losses } from './losses.mjs'
import * as tables from './tables.mjs'

const chart = (name, text) => `![${text}](images/${name}.svg)`

/** Returns `docs/performance.md`. The text after the goals is `notes.md`, which is written by hand. */
export function pageOf(results) {
  const notes = readFileSync(new URL('notes.md', import.meta.url), 'utf8').trim()
  const goals = goalsOf(results)
  const missed = goals.filter(({ isReached }) => !isReached).length
  return `# Performance

One run of \`npm run bench -- --write-docs\` has written every figure on this page. Run it on your own machine: ratios between servers
hold on most machines, and microseconds do not.

${machineText(results)}

${chart('performance-node', 'CPU time per request on Node.js: petstore-kit, bare node:http, Fastify, Hono and Express')}

${summary(results)}

## Servers that are better than ours

These servers do the same job with less CPU time, a lower p99 or less memory than ours. Bare handlers are not in this list, because
they do no work; the goals below compare with them.

${losses(results)}

## Goals

${goals.length - missed} of ${goals.length} goals are reached. A ratio is the median of the ratios within a round. The lowest and the
highest process are in brackets.${results.settings.earlier ? ` The earlier build is commit ${results.settings.earlier}, measured in the same run.` : ''}

${goalTable(goals)}

${notes}

## Meaning of the figures

- **CPU time per request** is the time that all threads of the server's process run, divided by the requests. It counts what the
  kernel does for the process. On a server that is fully used, requests per second are the inverse of it.
- **A ratio** compares two servers in the same round. Rounds are short and in random order, so that a slow moment of the machine
  affects all servers. Each server runs in several processes, because the same code is faster in one process than in another.
- **p99** is the latency that 99 % of the requests do not exceed. Requests are sent at a fixed rate, half of the rate that the server
  itself can reach. Latency counts from the time at which a request was due, so a pause of the server counts for all requests in it.
- **Memory** is the resident memory of the process, after the work \`list\`. Bare handlers have loaded our library, because they record
  our responses when they start.

| Work | Requests |
| --- | --- |
| list | the first page of 20 animals, again and again |
| varied list | 300 different URLs: pages with 19, 20 and 21 animals, with and without a filter |
| create | an animal that is validated and stored |
| mix | 80 % lists, 15 % look-ups by id, 5 % creates |
| 401, 429 | an unknown key; a key that has reached its limit |

## The servers

Each server is built as its own documentation teaches. Before anything is measured, the bench checks its responses: status, body,
the three rate-limit headers, the filter, the next page, 400, 401, 404, 429, and that a created animal can be read.

${servers(results)}

Servers that do the whole job check a bearer key, count a limit per minute, validate with a schema, list 20 animals with a filter on
\`status\`, store what they create, and find animals by id. Their animals are in an array. Ours also reads and writes 64-bit
integers exactly, finds repeated member names, counts per day, and can ban a key.

A **bare** handler repeats our recorded responses: the same bytes, and none of the work. 
## CPU time per request

32 connections. In brackets: the ratio to the first server.

${tables.cpuTables(results)}

${chart('performance-bun', 'CPU time per request on Bun: petstore-kit, bare Bun.serve and Elysia')}

${chart('performance-deno', 'CPU time per request on Deno: petstore-kit and bare Deno.serve')}

### At 1, 32 and 256 connections

CPU time in microseconds. With one connection, the process sleeps after each response, which costs more than most requests.

${tables.connectionsTable(results)}

### Mounted in a host

CPU time in microseconds. The empty handler responds \`ok\`; the bare handler writes the same bytes as ours.

${tables.mountTable(results)}

### Mock servers

json-server keeps animals in a file and writes the whole file at each create. Prism checks a request against the OpenAPI document and
returns an example. Neither has keys or limits, and Prism stores nothing.

${tables.mockTable(results)}

## Latency at half of the peak rate

${chart('performance-latency', 'Latency of a list at half of the peak rate: median and 99th percentile of each server')}

${tables.latencyTable(results)}

## Without HTTP

\`petStore.handle\` in one process, in microseconds of CPU time.

${tables.handleTable(results)}

## Growth

${chart('performance-scale', 'Time of a list by the number of animals, and of a count by the number of keys')}

\`petStore.handle\` reads a page with each status and without a filter, at the start, in the middle and at the end; the table has the
slowest of these 12. Keys take turns, as the requests of many customers do. The store in memory remembers the counts of 100,000 keys by default.

${tables.scaleTables(results)}

## Start and size

From the start of the process to the first response, with 1,000 animals:

${tables.startTable(results)}

Each import, bundled with its dependencies, minified and gzipped.

${tables.sizeTable(results)}

## Engines

32 connections. The bare driver sends the same statement and waits for the same commit, but checks no key and counts nothing. Creates
that wait together share a commit in our back ends, so we can be faster than one statement per request.

${tables.engineTable(results)}

Creates on PostgreSQL with slow commits, 128 at a time. The bare driver inserts each animal with a statement of its own, on the 10
connections of a default pool in each process. In the storage, nothing but creates and inserts is measured. Over HTTP, our server
also checks the key and counts each request in PostgreSQL, and the rest of the work is the same on both sides. If the processes and
the load use all the time of the processors, such as four processes on two processors, the ratio over HTTP compares CPU times:

${tables.writesTable(results)}
`
}

function machineText({ date, machine, settings }) {
  const { processor, memory, system, node, bun, deno, commit, pinned } = machine
  const cores = pinned ? 'Servers run on one processor, the load on another.' : 'Nothing is pinned to a processor.'
  return `Measured on ${date} at commit ${commit}, on ${processor}, ${memory}, ${system}, with Node.js ${node}, Bun ${bun} and Deno ${deno}.
${cores} Each server runs in ${settings.processes} processes, with ${settings.rounds} rounds of ${settings.burst} ms
after ${integer(settings.warmUp)} requests of warm-up.`
}

function summary(results) {
  const { ratio, ours } = figures(results)
  const percent = (...of) => `${Math.round(ratio(...of).ratio * 100)} %`
  const of = (base) =>
    `${percent('Node', ours, base, 'list')} for a list and ${percent('Node', ours, base, 'create')} for a create`
  return `Our CPU time per request on Node.js, at 32 connections:

- of a bare \`node:http\` handler that writes the same bytes: ${of(bases.Node)}
- of Fastify with the same job: ${of('Fastify')}
- of Hono with the same job: ${of('Hono')}
- of Express with the same job: ${of('Express')}`
}

function servers({ machine: { versions, node, bun, deno } }) {
  const packages = {
    Fastify: ['fastify', '@fastify/rate-limit', '@fastify/bearer-auth'],
    Hono: ['hono', '@hono/node-server', 'hono-rate-limiter', '@hono/zod-validator', 'zod'],
    Express: ['express', 'express-rate-limit', 'zod'],
    Elysia: ['elysia', 'elysia-rate-limit', '@elysiajs/bearer'],
    'json-server': ['json-server'],
    "Prism's mock": ['@stoplight/prism-http-server'],
  }
  const does = { all: 'all of it', bytes: 'only writes the bytes', less: 'less: no keys, limits or headers' }
  const seen = new Map(
    groups.flatMap((group) => group.servers.map((server) => [`${server.runtime} ${server.name}`, server])),
  )
  const rows = [...seen.values()]
    .filter(({ does: part }) => part !== 'nothing')
    .map(({ name, runtime, does: part }) => {
      const runs = { node: `Node.js ${node}`, bun: `Bun ${bun}`, deno: `Deno ${deno}` }[runtime]
      const list = packages[name]?.map((one) => `${one} ${versions[one]}`).join(', ') ?? ''
      return [name, runs, does[part], list]
    })
  return table(['Server', 'Runs on', 'Does the job', 'Packages'], rows)
}
