import { execFileSync, spawn } from 'node:child_process'
import {
  accessSync,
  chownSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { on } from './servers.mjs'

/**
 * Starts PostgreSQL and Redis on free ports, passes their URLs to `use`, and stops them. `DATABASE_URL` and `REDIS_URL` name
 * running servers instead. A server that is not installed is skipped, and its URL is undefined.
 */
export async function withDatabases(use) {
  const stops = []
  try {
    const postgresUrl = process.env.DATABASE_URL ?? (await startPostgres((stop) => stops.push(stop)))
    const redisUrl = process.env.REDIS_URL ?? (await startRedis((stop) => stops.push(stop)))
    for (const [name, url] of Object.entries({ PostgreSQL: postgresUrl, Redis: redisUrl }))
      if (url === undefined) console.log(`\nSkipped: ${name}, because this machine has no such program.`)
    return await use({ postgresUrl, redisUrl })
  } finally {
    for (const stop of stops) await stop()
  }
}

/** Keeps PostgreSQL's default settings for durability: a commit waits for the disk. */
async function startPostgres(onStop) {
  const initdb = findProgram('initdb', postgresFolders())
  if (initdb === undefined) return undefined
  const user = unprivilegedUser()
  const folder = mkdtempSync(join(tmpdir(), 'petstore-kit-bench-'))
  const data = join(folder, 'data')
  mkdirSync(data)
  if (user) for (const path of [folder, data]) chownSync(path, user.uid, user.gid)
  const options = { ...user, cwd: folder }
  execFileSync(initdb, ['-D', data, '-U', 'petstore', '-A', 'trust', '-E', 'UTF8', '--locale=C'], {
    ...options,
    stdio: 'ignore',
  })
  const port = await freePort()
  const settings = { listen_addresses: '127.0.0.1', unix_socket_directories: '', max_connections: 500 }
  const args = ['-D', data, '-p', String(port)]
  for (const [name, value] of Object.entries(settings)) args.push('-c', `${name}=${value}`)
  onStop(await startDatabase(join(dirname(initdb), 'postgres'), args, 'ready to accept connections', options, folder))
  return `postgres://petstore@127.0.0.1:${port}/postgres`
}

async function startRedis(onStop) {
  const program = findProgram('redis-server') ?? findProgram('valkey-server')
  if (program === undefined) return undefined
  const folder = mkdtempSync(join(tmpdir(), 'petstore-kit-bench-'))
  const port = await freePort()
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', folder]
  onStop(await startDatabase(program, args, 'Ready to accept connections', {}, folder))
  return `redis://127.0.0.1:${port}`
}

/** Starts a program and waits until it prints `ready`. Returns a function that stops it and removes its folder. */
async function startDatabase(program, args, ready, options, folder) {
  const [first, ...rest] = on(undefined, [program, ...args])
  const child = spawn(first, rest, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  await new Promise((resolve, reject) => {
    let text = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        text = `${text}${chunk}`.slice(-10_000)
        if (text.includes(ready)) resolve()
      })
    child.on('exit', () => reject(new Error(`${program} has ended: ${text}`)))
  })
  return async () => {
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGINT')
    await ended
    process.removeListener('exit', kill)
    rmSync(folder, { recursive: true, force: true })
  }
}

function findProgram(name, folders = []) {
  const all = [...folders, ...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/bin']
  return all
    .map((folder) => join(folder, name))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK)
        return true
      } catch {
        return false
      }
    })
}

/** Returns the folders in which Debian installs PostgreSQL, the newest version first. */
function postgresFolders() {
  const parent = '/usr/lib/postgresql'
  if (!existsSync(parent)) return []
  return readdirSync(parent)
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => join(parent, version, 'bin'))
}

/** PostgreSQL refuses to run as root. Returns another user, or `undefined` if this process is not root. */
function unprivilegedUser() {
  if (process.getuid?.() !== 0) return undefined
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
  const [, , uid, gid] = users.find(([name]) => name === 'postgres') ?? users.find(([name]) => name === 'nobody')
  return { uid: Number(uid), gid: Number(gid) }
}

async function freePort() {
  const server = createServer()
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address()
  await new Promise((resolve) => server.close(resolve))
  return port
}
