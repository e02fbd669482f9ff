import type { AsyncCommand } from 'fast-check'

/**
 * Returns a command of a random sequence: it calls a port, and compares the result with the model.
 *
 * @param text - describes the call in the message of a failed test
 */
export function command<Model extends object, Port>(
  text: string,
  run: (model: Model, port: Port) => Promise<void>,
): AsyncCommand<Model, Port> {
  return { check: () => true, run, toString: () => text }
}
