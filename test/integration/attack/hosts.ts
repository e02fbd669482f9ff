import { resolve } from 'node:path'
import { portOf, type Started, startProgram } from '../../conformance/start-host.ts'
import { rawRequest } from '../../support/raw-http.ts'
import { runtimeBinary } from '../../support/runtimes.ts'

const program = resolve(import.meta.dirname, 'programs', 'host.mjs')
const [deno, bun] = await Promise.all([runtimeBinary('deno'), runtimeBinary('bun')])

/** The runtimes, each with its command; `undefined` if it cannot be installed. */
export const runtimes: readonly (readonly [name: string, command: readonly string[] | undefined])[] = [
  ['Node', [process.execPath]],
  ['Deno', deno === undefined ? undefined : [deno, 'run', '--allow-all']],
  ['Bun', bun === undefined ? undefined : [bun, 'run']],
]

/** What a process has used since its start. */
export interface Cost {
  readonly cpuMs: number
  readonly peakMb: number
}

export interface AttackedHost {
  readonly url: string
  cost(): Promise<Cost>
  stop(): Promise<void>
}

/** Starts a server with a pet store, or a bare server of the same runtime. */
export async function startAttackedHost(command: readonly string[], kind: 'kit' | 'bare'): Promise<AttackedHost> {
  const { value, stop }: Started<number> = await startProgram([...command, program, kind], portOf)
  const url = `http://127.0.0.1:${value}`
  return { url, stop, cost: async () => (await fetch(`${url}/cost`)).json() as Promise<Cost> }
}

/** Sends a request several times. Returns the CPU time for each, the peak memory of the process, and the response statuses. */
export async function costOf(host: AttackedHost, request: Uint8Array, times: number) {
  await rawRequest(host.url, request)
  const before = await host.cost()
  const statuses = new Set<number>()
  for (let i = 0; i < times; i++) statuses.add((await rawRequest(host.url, request)).status)
  const after = await host.cost()
  return { cpuMs: (after.cpuMs - before.cpuMs) / times, peakMb: after.peakMb, statuses: [...statuses] }
}
