import { once } from 'node:events'
import { pinned, runtimes, start, stop } from '../support/processes.mjs'

/** Starts the load generator, passes it to `use`, and stops it. */
export async function withLoad(use) {
  const file = new URL('generator.mjs', import.meta.url).pathname
  const generator = await start('the load generator', pinned(1, [...runtimes.bun, file]), { ipc: true })
  try {
    return await use(loadOf(generator.child))
  } finally {
    await stop(generator)
  }
}

function loadOf(child) {
  const call = async (command, options = {}) => {
    const reply = once(child, 'message')
    child.send({ command, ...options })
    const [{ result, error }] = await reply
    if (error !== undefined) throw new Error(error)
    return result
  }
  /** Opens connections to each target, passes the functions `run` and `pace` to `use`, and closes the connections. */
  const connectedToAll = async (targets, connections, use) => {
    try {
      await call('open', { targets, connections })
      return await use({
        run: (duration) => call('run', { duration }),
        pace: (rate, duration) => call('pace', { rate, duration }),
      })
    } finally {
      await call('close')
    }
  }
  return {
    connectedToAll,
    async connected({ name, port }, requests, connections, use) {
      try {
        return await connectedToAll([{ port, requests }], connections, use)
      } catch (error) {
        throw new Error(`${name}: ${error.message}`, { cause: error })
      }
    },
  }
}
