import { spawn, spawnSync } from 'node:child_process'
import { createInterface } from 'node:readline'
import { cpuTime, onAllProcessors, pinned } from '../support/processes.mjs'

const source = new URL('client.c', import.meta.url).pathname
const program = new URL('../../.cache/bench/client', import.meta.url).pathname

/** Compiles the load client. Returns false if no compiler of this machine can do so. */
export function buildClient() {
  const build = (compiler) => spawnSync(compiler, ['-O2', '-o', program, source], { stdio: 'inherit' })
  return ['cc', 'gcc', 'clang'].some((compiler) => build(compiler).status === 0)
}

/**
 * Sends requests to servers; `client.c` explains `mode`, `amount` and `rate`. Returns the number of responses, the seconds, and the
 * CPU time that the first server used per request, in microseconds.
 *
 * @param sharesProcessors - whether the client runs on the same processors as the servers, and so sleeps until a response arrives
 */
export async function sendLoad(
  servers,
  requests,
  { mode = 'closed', amount, rate = 0, connections, sharesProcessors = false },
) {
  const ports = servers.map(({ port }) => port)
  const command = [program, sharesProcessors ? 'sleeping' : mode, amount, rate, connections, ...ports].map(String)
  const [first, ...args] = sharesProcessors ? onAllProcessors(command) : pinned(1, command)
  const { stdin, stdout } = spawn(first, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]()
  const nextLine = async () => {
    const { value, done } = await lines.next()
    if (done) throw new Error(`${servers[0].name}: the load client has failed`)
    return JSON.parse(value)
  }
  // If the client has failed, writing fails too. Ignore this error: `nextLine` reports the failure.
  stdin.on('error', () => {})
  const texts = requests.map(({ status, text }) => `${status} ${Buffer.byteLength(text)}\n${text}`)
  stdin.write([requests.length, ...texts].join('\n'))
  await nextLine()
  const before = cpuTime(servers[0].pid)
  stdin.write('\n')
  const result = await nextLine()
  const cpu = (cpuTime(servers[0].pid) - before) / result.count
  // The client closes its connections after this measurement, because closing costs the server CPU time.
  stdin.end()
  return { ...result, cpu }
}
