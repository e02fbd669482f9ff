import { spawnSync } from 'node:child_process'
import { compare } from './compare.mjs'

/** Compares the store on Express with an empty Express handler, and the store on Bun with a bare Bun handler. */
export async function benchHosts() {
  for (const connections of [4, 32]) {
    const servers = [
      { name: 'an empty handler', file: 'express', args: ['empty'] },
      { name: 'kit', file: 'express' },
    ]
    await compare(`Express, ${connections} connections`, 'list', servers, { alike: false, connections })
  }
  const execPath = process.env.BUN ?? 'bun'
  if (spawnSync(execPath, ['--version']).status !== 0) {
    console.log('\nSkipped: Bun, which is not in PATH. Set BUN to its path.')
    return
  }
  for (const kind of ['list', 'create']) {
    const servers = [
      { name: 'bare', file: 'bun', args: ['bare'], execPath },
      { name: 'kit', file: 'bun', execPath },
    ]
    await compare(`Bun, ${kind}`, kind, servers)
  }
}
