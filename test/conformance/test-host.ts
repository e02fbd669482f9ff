import { afterAll, beforeAll, describe, test } from 'vitest'
import { missing } from '../support/skips.ts'
import { socketClient } from './http/client.ts'
import { httpConformance } from './http/suite.ts'
import { hostProgram, portOf, type Started, startProgram } from './start-host.ts'

/** A host program and its runtime. */
export interface TestedHost {
  readonly name: string
  /** The name of the runtime, if it differs from the name of the host. */
  readonly runtime?: string
  readonly isExpress?: boolean
  /** The binary of the runtime, or `undefined` if this machine does not have it. */
  readonly binary: string | undefined
  readonly args?: readonly string[]
  readonly program: string
}

/** Adds Vitest tests that run the whole suite against a host program in a separate process. */
export function testHost({ binary, runtime, args = [], program, ...host }: TestedHost): void {
  const start = async () => serving(await startProgram([binary ?? '', ...args, hostProgram(program)], portOf))
  const run = missing(runtime ?? host.name, binary !== undefined) ? describe.skip : describe
  httpConformance({ describe: run, test, beforeAll, afterAll }, { ...host, start })
}

function serving({ value: port, stop }: Started<number>) {
  return { port, stop, send: socketClient(port) }
}
