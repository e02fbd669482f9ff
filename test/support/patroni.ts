import { chown, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { killWithChildren, postgresPrograms, unprivilegedUser } from './postgres-server.ts'
import { findProgram, freePort, type ServerProcess, startProcess } from './server-process.ts'
import { until } from './until.ts'

/** Two PostgreSQL servers that Patroni manages. One is the leader, the other its synchronous standby. */
export interface PatroniCluster {
  /** The connection URL of HAProxy, which passes connections to the leader. */
  readonly url: string
  /** Kills Patroni and PostgreSQL of the leader, as `kill -9` does. Returns a function that starts them again. */
  killLeader(): Promise<() => Promise<void>>
  /** Makes the standby the leader, as an administrator does. */
  switchOver(): Promise<void>
  /** Resolves when there are a leader and a synchronous standby. */
  isComplete(): Promise<void>
  /** Stops everything and removes its data. */
  remove(): Promise<void>
}

interface Node {
  readonly name: string
  readonly data: string
  readonly postgresPort: number
  readonly apiPort: number
  process: ServerProcess | undefined
}

/** A member of the cluster, as the REST API of Patroni returns it. */
interface Member {
  readonly name: string
  readonly role: string
  readonly state: string
}

/** Returns the programs of such a cluster that this machine lacks. */
export async function missingForPatroni(): Promise<string[]> {
  const bin = await postgresPrograms()
  const ofPostgres = ['pg_basebackup', 'pg_rewind'].filter(
    (name) => bin === undefined || findProgram(join(bin, name), ['']) === undefined,
  )
  return [...['patroni', 'etcd', 'haproxy'].filter((name) => findProgram(name) === undefined), ...ofPostgres]
}

/** In seconds. Patroni recommends at least 20; a standby becomes the leader when the lock of the leader has expired. */
const LOCK_EXPIRES_AFTER = 20

/** Starts etcd, two nodes with Patroni, and HAProxy, as the documentation of Patroni combines them. */
export async function startPatroni(): Promise<PatroniCluster> {
  const user = await unprivilegedUser()
  const folder = await mkdtemp(join(tmpdir(), 'petstore-kit-patroni-'))
  if (user !== undefined) await chown(folder, user.uid, user.gid)
  // The tests empty PGSSLMODE, but libpq rejects an empty value.
  const options = { uid: user?.uid, gid: user?.gid, cwd: folder, env: { ...process.env, PGSSLMODE: 'disable' } }

  const etcd = await startEtcd(folder, options)
  const nodes: Node[] = []
  for (const name of ['one', 'two']) {
    const ports = { postgresPort: await freePort(), apiPort: await freePort() }
    nodes.push({ name, data: join(folder, name), ...ports, process: undefined })
  }

  async function start(node: Node): Promise<void> {
    const file = join(folder, `${node.name}.yml`)
    await writeFile(file, JSON.stringify(await configurationOf(node, etcd.address, folder)))
    const started = /no action. I am|i am the leader with the lock|I am \(/i
    node.process = await startProcess(findProgram('patroni') ?? '', [file], started, options)
  }

  async function membersSeenBy({ apiPort }: Node): Promise<readonly Member[]> {
    const response = await fetch(`http://127.0.0.1:${apiPort}/cluster`)
    return ((await response.json()) as { members: Member[] }).members
  }

  /** Asks all nodes, because those that were killed do not respond. */
  async function members(): Promise<readonly Member[]> {
    return Promise.any(nodes.map(membersSeenBy))
  }

  async function leader(): Promise<Node> {
    const name = (await members()).find(({ role }) => role === 'leader')?.name
    return nodes.find((node) => node.name === name) as Node
  }

  const isComplete = () =>
    until(async () => {
      const roles = (await members()).map(({ role }) => role)
      return roles.includes('leader') && roles.includes('sync_standby')
    })

  async function kill(node: Node): Promise<void> {
    const postmaster = await readFile(join(node.data, 'postmaster.pid'), 'utf8').catch(() => '')
    await node.process?.stop('SIGKILL')
    node.process = undefined
    if (postmaster !== '') await killWithChildren(Number.parseInt(postmaster, 10))
  }

  let haproxy: ServerProcess | undefined
  const remove = async () => {
    await haproxy?.stop('SIGTERM')
    for (const node of nodes) await kill(node)
    await etcd.process.stop('SIGKILL')
    await rm(folder, { recursive: true, force: true })
  }
  try {
    for (const node of nodes) await start(node)
    await isComplete()
    const port = await freePort()
    haproxy = await startHaproxy(folder, port, nodes)
    return {
      url: `postgres://petstore@127.0.0.1:${port}/postgres`,
      isComplete,
      remove,
      async killLeader() {
        const node = await leader()
        await kill(node)
        return () => start(node)
      },
      async switchOver() {
        const old = await leader()
        const body = JSON.stringify({ leader: old.name })
        const response = await fetch(`http://127.0.0.1:${old.apiPort}/switchover`, { method: 'POST', body })
        if (!response.ok) throw new Error(`Patroni responded ${response.status}: ${await response.text()}`)
      },
    }
  } catch (error) {
    await remove()
    throw error
  }
}

async function startEtcd(folder: string, options: object) {
  const [client, peer] = [`http://127.0.0.1:${await freePort()}`, `http://127.0.0.1:${await freePort()}`]
  const flags = {
    'data-dir': join(folder, 'etcd'),
    'listen-client-urls': client,
    'advertise-client-urls': client,
    'listen-peer-urls': peer,
    'initial-advertise-peer-urls': peer,
    'initial-cluster': `default=${peer}`,
  }
  const args = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value])
  const process = await startProcess(findProgram('etcd') ?? '', args, /ready to serve client requests/, options)
  return { process, address: new URL(client).host }
}

/** Returns the configuration of a node. JSON is YAML, which Patroni reads. */
async function configurationOf({ name, data, postgresPort, apiPort }: Node, etcd: string, folder: string) {
  const api = `127.0.0.1:${apiPort}`
  const address = `127.0.0.1:${postgresPort}`
  return {
    scope: 'petstore',
    name,
    restapi: { listen: api, connect_address: api },
    etcd3: { hosts: etcd },
    bootstrap: {
      dcs: {
        ttl: LOCK_EXPIRES_AFTER,
        loop_wait: 1,
        retry_timeout: 3,
        synchronous_mode: true,
        postgresql: { use_pg_rewind: true },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C' }, { auth: 'trust' }],
    },
    postgresql: {
      listen: address,
      connect_address: address,
      data_dir: data,
      bin_dir: await postgresPrograms(),
      pgpass: join(folder, `${name}.pgpass`),
      authentication: { superuser: { username: 'petstore' }, replication: { username: 'replicator' } },
      pg_hba: ['host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust'],
      parameters: { unix_socket_directories: '' },
    },
  }
}

/** HAProxy passes connections to the node that is the leader, and closes those to a node that no longer is. */
async function startHaproxy(folder: string, port: number, nodes: readonly Node[]): Promise<ServerProcess> {
  const file = join(folder, 'haproxy.cfg')
  const servers = nodes.map(
    ({ name, postgresPort, apiPort }) => `  server ${name} 127.0.0.1:${postgresPort} check port ${apiPort}`,
  )
  const lines = [
    'defaults',
    '  mode tcp',
    '  timeout connect 2s',
    '  timeout client 1h',
    '  timeout server 1h',
    'listen leader',
    `  bind 127.0.0.1:${port}`,
    '  option httpchk OPTIONS /primary',
    '  http-check expect status 200',
    '  default-server inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions',
    ...servers,
  ]
  await writeFile(file, `${lines.join('\n')}\n`)
  return startProcess(findProgram('haproxy') ?? '', ['-W', '-db', '-f', file], /Loading success/)
}
