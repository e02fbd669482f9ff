import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { within } from '../../support/deadline.ts'
import { onDemand } from '../../support/on-demand.ts'
import { findProgram, freePort } from '../../support/server-process.ts'
import { showErrors } from '../../support/show-errors.ts'
import { missing } from '../../support/skips.ts'
import { until } from '../../support/until.ts'

const root = join(import.meta.dirname, '../../..')
const run = promisify(execFile)

/** The parts of the compose file that the tests read. */
interface Compose {
  readonly services: {
    readonly pets: { readonly environment: Readonly<Record<string, string | number>> }
    readonly test: { readonly command: string; readonly volumes: readonly [string] }
  }
}

const containerfile = await readFile(join(root, 'examples/container/Containerfile'), 'utf8')

/** Returns what follows an instruction of the Containerfile, such as `USER`, at its last place. */
function instruction(name: string): string {
  const [, text = ''] = [...containerfile.matchAll(new RegExp(`^${name} (.+)$`, 'gm'))].at(-1) ?? []
  return text
}

const linter = await onDemand('dockerfile-utils@0.16.3')

test.skipIf(missing('dockerfile-utils', linter !== undefined)).each(['container', 'production'])(
  'a linter accepts the Containerfile of examples/%s',
  async (name) => {
    const { validate } = createRequire(join(linter ?? '', 'package.json'))('dockerfile-utils')
    expect(validate(await readFile(join(root, 'examples', name, 'Containerfile'), 'utf8'))).toEqual([])
  },
)

/** Creates the folder that the head of the Containerfile describes, with this package. Returns `undefined` without a network. */
async function createProject(folder: string): Promise<string | undefined> {
  const project = join(folder, 'pets')
  await mkdir(project)
  await run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder], { cwd: root })
  const lines = [...containerfile.matchAll(/^# {3}((?:npm|cp) .+)$/gm)].map(([, line]) => line)
  const script = lines.join('\n').replace('install petstore-kit', 'install --prefer-offline ../petstore-kit-*.tgz')
  return run('bash', ['-ec', script], { cwd: project }).then(
    () => project,
    (error) => void console.error(String(error)),
  )
}

/** Does what a build of the image does: copies the two files of the project, and installs the packages of the lock file. */
async function build(project: string): Promise<string> {
  const app = join(dirname(project), 'app')
  for (const name of ['package.json', 'package-lock.json']) await cp(join(project, name), join(app, name))
  await run('sh', ['-c', `${/^RUN (npm .+)$/m.exec(containerfile)?.[1]} --prefer-offline`], { cwd: app })
  return app
}

/**
 * Returns a command that runs another in a file system that is empty except for `/app`, Node.js and `/usr`, and read-only. It runs as
 * the user of the image, without capabilities, and with no other variables.
 */
function contained(app: string, env: Readonly<Record<string, string | number>>, command: readonly string[]) {
  const user = instruction('USER')
  const script = [
    'mount -t tmpfs tmpfs "$1"',
    'cd "$1"',
    'mkdir app dev node usr',
    'ln -s usr/bin usr/lib usr/lib64 .',
    'mount --bind "$2" app',
    'mount --bind "$3" node',
    'mount --rbind /dev dev',
    'mount --bind /usr usr',
    'mount -o remount,bind,ro app',
    'mount -o remount,ro .',
    'shift 3',
    `exec chroot . setpriv --reuid ${user} --regid ${user} --clear-groups --no-new-privs --inh-caps=-all --bounding-set=-all env -C /app -i "$@"`,
  ].join(' && ')
  const variables = Object.entries({ ...env, PATH: '/node:/usr/bin' }).map(([name, value]) => `${name}=${value}`)
  const folders = [join(folder, 'root'), app, dirname(process.execPath)]
  return ['unshare', ['--mount', 'sh', '-c', script, 'sh', ...folders, ...variables, ...command]] as const
}

const folder = await mkdtemp(join(tmpdir(), 'petstore-kit-'))
afterAll(() => rm(folder, { recursive: true }))
await mkdir(join(folder, 'root'))
const isContained = await run(...contained(root, {}, ['node', '--version'])).then(
  () => true,
  () => false,
)
const python = findProgram('python3')
const project = isContained && python !== undefined ? await createProject(folder) : undefined
const skipped = [
  missing('the right to mount file systems, and to run Node.js as another user', isContained, { optional: true }),
  missing('Python', python !== undefined, { optional: true }),
  isContained && python !== undefined && missing('the packages of npm', project !== undefined),
].includes(true)

test.skipIf(skipped)(
  'the commands of the container and its compose file work in an empty, read-only root',
  async () => {
    const app = await build(project ?? '')
    const { services } = parse(await readFile(join(project ?? '', 'compose.yml'), 'utf8'), { merge: true }) as Compose
    const image = Object.fromEntries(
      instruction('ENV')
        .split(' ')
        .map((pair) => pair.split('=')),
    )
    const ports = { PETSTORE_PORT: await freePort(), PETSTORE_CONTROL_PORT: await freePort() }
    const env = { ...image, ...services.pets.environment, ...ports }

    await expect(run(...contained(app, env, ['touch', 'file']))).rejects.toThrow('Read-only file system')
    const words = [...JSON.parse(instruction('ENTRYPOINT')), ...JSON.parse(instruction('CMD'))]
    const server = showErrors(spawn(...contained(app, env, words), { stdio: ['ignore', 'ignore', 'pipe'] }))
    onTestFinished(() => void server.kill('SIGKILL'))
    const ended = once(server, 'exit')
    const [, health = ''] = /CMD (.+)$/.exec(instruction('HEALTHCHECK')) ?? []
    const isHealthy = () => run(...contained(app, env, JSON.parse(health)))
    await Promise.race([ended, until(async () => (await isHealthy()).stderr === '')])

    const [source = '', target = ''] = services.test.volumes[0].split(':')
    const command = services.test.command
      .replace(target, join(project ?? '', source))
      .replace('pets:3000', `127.0.0.1:${ports.PETSTORE_PORT}`)
      .replace('pets:3001', `127.0.0.1:${ports.PETSTORE_CONTROL_PORT}`)
    expect((await run(python ?? '', command.split(' ').slice(1))).stderr).toMatch(/^OK$/m)

    server.kill('SIGTERM')
    expect(await within(ended, 'the end of the server')).toEqual([0, null])
    await expect(isHealthy()).rejects.toMatchObject({ code: 1 })
  },
)
