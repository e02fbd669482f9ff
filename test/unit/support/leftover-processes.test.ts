import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { leftoverProcesses, RUN_MARK } from '../../support/leftover-processes.ts'

const waiting = 'process.stdin.resume().on("end", () => process.exit())'

/** Starts a shell that starts a marked process. The inner process ends when its standard input is closed. */
async function startGrandchild(mark: string) {
  const script = `"$0" -e 'console.log(process.pid);${waiting}'; true`
  const child = spawn('sh', ['-c', script, process.execPath], { env: { ...process.env, [RUN_MARK]: mark } })
  onTestFinished(() => void child.stdin.end())
  const [pid] = await once(child.stdout, 'data')
  return { child, pid: String(pid).trim() }
}

test.skipIf(!existsSync('/proc/self/environ'))('finds a process of the test run until the process ends', async () => {
  const mark = randomUUID()
  const { child, pid } = await startGrandchild(mark)
  expect(await leftoverProcesses(mark, 1)).toEqual([expect.stringMatching(new RegExp(`^${pid} .*node`))])
  expect(await leftoverProcesses(randomUUID(), 1)).toEqual([])
  child.stdin.end()
  await once(child, 'close')
  expect(await leftoverProcesses(mark)).toEqual([])
})
