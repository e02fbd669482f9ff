import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** An environment variable that every process of a test run inherits. */
export const RUN_MARK = 'TEST_RUN_ID'

/** How many times to look for processes that have not ended, and the pause between looks, in milliseconds: five minutes in all. */
const LOOKS = 1_500
const PAUSE = 200

/**
 * Waits a limited time for the end of all processes with this mark in their environment. Returns the commands of those that still
 * run, except children of this process: vitest started them, and ends them later. Returns none on a system without `/proc`.
 */
export async function leftoverProcesses(mark: string, looks = LOOKS): Promise<string[]> {
  let found = processesOf(mark)
  for (let look = 1; found.length > 0 && look < looks; look++) {
    await sleep(PAUSE)
    found = processesOf(mark)
  }
  return found
}

function processesOf(mark: string): string[] {
  let names: string[]
  try {
    names = readdirSync('/proc')
  } catch {
    return []
  }
  const ids = names.filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
  return ids.flatMap((id) => {
    try {
      // An ended process has an empty environment. Reading the environment of another user's process throws.
      const variables = readFileSync(`/proc/${id}/environ`, 'utf8').split('\0')
      if (!variables.includes(`${RUN_MARK}=${mark}`)) return []
      const [, parent] = /^PPid:\s*(\d+)$/m.exec(readFileSync(`/proc/${id}/status`, 'utf8')) ?? []
      const command = readFileSync(`/proc/${id}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
      return Number(parent) === process.pid || command === '' ? [] : [`${id} ${command}`]
    } catch {
      return []
    }
  })
}
