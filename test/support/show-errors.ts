import type { ChildProcess } from 'node:child_process'

/** Adds what a child writes to standard error to the output of the current test, which is printed only if the test fails. */
export function showErrors<Child extends ChildProcess>(child: Child): Child {
  child.stderr?.on('data', (text) => console.error(String(text)))
  return child
}
