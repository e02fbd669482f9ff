import { readFileSync } from 'node:fs'
import { groups, OURS, RUNTIMES } from '../contestants/index.mjs'
import { ratioOf } from '../support/statistics.mjs'
import { figures } from './figures.mjs'
import { betterServers, engineTable, memoryText, otherTable, runtimeTable } from './tables.mjs'

const chart = (name, text) => `![${text}](images/${name}.svg)`

/** Returns `docs/performance.md`. The texts of `notes.md` and `capacity.md` are written by hand. */
export function pageOf(results) {
  const [notes, capacity] = ['notes.md', 'capacity.md'].map((file) =>
    readFileSync(new URL(file, import.meta.url), 'utf8').trim(),
  )
  return `# Performance

One run of \`npm run bench -- --write-docs\` has written the figures on this page. Exceptions are those about garbage collection,
and those in [Plan the capacity](#plan-the-capacity) and [The most expensive requests](#the-most-expensive-requests). Ratios
between servers hold on most machines, and microseconds do not.

${chart('performance-node', 'CPU time per request on Node.js: petstore-kit, bare node:http, Fastify, Hono and Express')}

${summary(results)}

## What a request costs

CPU time per request in microseconds, at 32 connections if nothing else is said. In brackets: our figure divided by theirs. Each
server checks a bearer key, counts a limit per minute, and validates with a schema. It stores what it creates, and finds animals
by id and by status. A **bare** handler repeats our responses, the same bytes and headers, and does none of the work.

${RUNTIMES.map((group) => `**${group}**\n\n${runtimeTable(results, group)}`).join('\n\n')}

- **list**: the first page of 20 animals. **varied**: 300 pages of 1 to 100 animals, with a filter and without.
- **walk**: every page of 100,000 animals once, by the links, with 20 or 100 animals on a page.
- **changing**: a create after each ten lists. **mix**: 80 % lists, 15 % animals by id, 5 % creates.
- **p99**: the latency that 99 % of the requests do not exceed, at half of the highest rate of the slowest server. It counts from
  the time at which a request was due, so a pause of the server counts for all requests in it.
- **memory**: of the process, after the lists. **start**: until the process listens, with 1,000 animals in the store.

${notes}

Mounted in a host, and beside mock servers, which have no keys and no limits:

${otherTable(results)}

## Where others are better

Our figure divided by theirs:

${betterServers(results) || 'Nowhere in this run.'}

Their animals are in an array, and their keys are fixed. Ours also reads and writes 64-bit integers exactly, finds repeated member
names, counts per day, and can ban a key.

## Growth

${chart('performance-scale', 'Time of a list by the number of animals, and of a count by the number of keys')}

In memory, \`petStore.handle\` reads 12 pages: with each status and without a filter, at the start, in the middle and at the end of the
list. The chart has the slowest of them. Keys send requests one after the other. The store remembers the counts of 100,000 keys by
default.
${memoryText(results)}

## Engines

The bare driver sends the same statement and waits for the same commit, but checks no key and counts nothing. Creates that wait
together share a commit in our back ends, so we can be faster than one statement per request. With four processes, 128 creates at
a time go to one database. Over HTTP, the store also counts, in PostgreSQL if the row does not name Redis. Database, servers and
load share all processors.

${engineTable(results)}

${capacity}

## How to run it

\`npm run bench\` needs Linux, a C compiler (cc, gcc or clang) and at least two processors. \`-- --quick\` takes less time,
\`-- http --only Node\` runs one part for one group, and \`-- --against DIR\` also prints the figures of an earlier build in
\`DIR/dist\`.

The load client never sleeps: a response that wakes a sleeping client costs the server an interrupt that no network card charges.
Only beside PostgreSQL, it sleeps while it waits, because database, servers and load then share all processors.
Before anything is measured, the bench checks the responses of each server. Each server has several processes. The servers are
measured in short rounds, in random order, and a ratio compares two servers in the same round. The source of each server is in
\`bench/contestants\`.

${machineText(results)}
`
}

function machineText({ date, machine, settings }) {
  const { processor, memory, system, node, bun, deno, commit, pinned, versions } = machine
  const packages = ['fastify', '@fastify/rate-limit', 'hono', '@hono/node-server', 'express', 'elysia']
  return `Measured on ${date} at commit ${commit}, on ${processor}, ${memory}, ${system}, with Node.js ${node}, Bun ${bun} and Deno ${deno}.
Peers: ${packages.map((name) => `${name} ${versions[name]}`).join(', ')}.
${pinned ? 'Servers run on one processor, the load on another; with PostgreSQL, all of them run on all processors.' : 'Nothing is pinned to a processor.'} ${settings.processes} processes of each server, ${settings.rounds} rounds of ${settings.burst} ms.`
}

function summary(results) {
  const { http } = figures(results)
  const percent = (base, work) => {
    const [ours, theirs] = [OURS, base].map((name) => http('Node', name, work).cpu)
    return `${Math.round(ratioOf(ours, theirs).ratio * 100)} %`
  }
  const [bare, , ...peers] = groups[0].servers
  const lines = [bare, ...peers].map(
    ({ name }) =>
      `- ${percent(name, 'list')} of ${name} for a list, ${percent(name, 'walk 20')} for a page that nobody asked for before, ` +
      `${percent(name, 'create')} for a create`,
  )
  return `Our CPU time per request on Node.js:\n\n${lines.join('\n')}`
}
