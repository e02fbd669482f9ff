import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { errorTable } from '../../src/errors.ts'
import { defaultPlans } from '../../src/model.ts'
import { postgresPrograms, startPostgres } from '../support/postgres-server.ts'
import { missingRedis, startRedis } from '../support/redis-server.ts'
import { freePort } from '../support/server-process.ts'
import { missing } from '../support/skips.ts'

const root = resolve(import.meta.dirname, '../..')

/** A code block of a document. `excerptOf` is the path that may follow the language: a file that contains the same code. */
interface Snippet {
  readonly document: string
  readonly language: string
  readonly excerptOf: string
  readonly code: string
}

const pages = readdirSync(resolve(root, 'docs'), { recursive: true, encoding: 'utf8' }).map((name) => `docs/${name}`)
const documents = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...pages].filter((name) => name.endsWith('.md'))
const snippets = documents.flatMap((document): Snippet[] =>
  [...readFileSync(resolve(root, document), 'utf8').matchAll(/^```(\w+)(?: (\S+))?\n([\s\S]*?)^```$/gm)].map(
    ([, language = '', excerptOf = '', code = '']) => ({ document, language, excerptOf, code }),
  ),
)
/** Returns the anchors of the headings in a document, as GitHub names them. */
function anchorsIn(text: string): Set<string> {
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading.toLowerCase())
  return new Set(headings.map((heading) => heading.replaceAll(/[^\w\- ]/g, '').replaceAll(' ', '-')))
}

/** Node 20 has no `node:sqlite`. The constructors of both drivers take a path. */
function onThisNode(code: string): string {
  if (process.versions.sqlite) return code
  return code.replace("{ DatabaseSync } from 'node:sqlite'", "DatabaseSync from 'libsql'")
}

const titleOf = ({ document, code }: Snippet) => `${document}: ${code.trim().split('\n').at(-1)}`

/** Environment variables with the URLs of PostgreSQL and Redis. Empty if this machine lacks either of them. */
let engines: Record<string, string> = {}
const noEngines = [missing('PostgreSQL', (await postgresPrograms()) !== undefined), missingRedis()].includes(true)
const stops: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  if (noEngines) return
  const [database, counts] = await Promise.all([startPostgres(), startRedis()])
  stops.push(database.remove, counts.remove)
  engines = { DATABASE_URL: database.url, REDIS_URL: counts.url }
})
afterAll(() => Promise.all(stops.map((stop) => stop())))

function run(
  command: string,
  args: readonly string[],
  input = '',
  cwd = root,
): { child: ChildProcess; output: () => string; ended: Promise<unknown> } {
  const child = spawn(command, args, { cwd, stdio: ['pipe', 'pipe', 'pipe'], env: { ...process.env, ...engines } })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += chunk))
  child.stdin.end(input)
  return { child, output: () => text, ended: once(child, 'close') }
}

/** Sends a request until the server responds or its process has ended. */
async function responseOf(url: string, child: ChildProcess, token?: string): Promise<Response> {
  const headers = new Headers(token === undefined ? {} : { authorization: `Bearer ${token}` })
  for (;;) {
    const response = await fetch(url, { headers }).catch(() => undefined)
    if (response !== undefined) return response
    if (child.exitCode !== null) throw new Error('the snippet ended before it responded')
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** Writes a file inside the package, so that it can import the package by its name. */
async function scratch(code: string): Promise<string> {
  const folder = await mkdtemp(join(root, '.cache-readme-'))
  scratches.push(folder)
  const file = join(folder, 'snippet.mjs')
  await writeFile(file, code)
  return file
}

const scratches: string[] = []
afterAll(() => Promise.all(scratches.map((folder) => rm(folder, { recursive: true }))))

describe('the documents', () => {
  test('the documents link only to existing files and headings', () => {
    const textOf = (document: string) =>
      readFileSync(resolve(root, document), 'utf8').replaceAll(/^```[\s\S]*?^```$/gm, '')
    for (const document of documents) {
      for (const [, link = ''] of textOf(document).matchAll(/\]\((?!https?:)([^)]+)\)/g)) {
        const [path = '', heading] = link.split('#')
        const target = path === '' ? document : join(dirname(document), path)
        const hasHeading = heading === undefined || !target.endsWith('.md') || anchorsIn(textOf(target)).has(heading)
        const exists = existsSync(resolve(root, target)) && hasHeading
        expect({ document, link, exists }).toEqual({ document, link, exists: true })
      }
    }
  })

  test.each(['README.md', 'docs/interface.md'])('%s states the limits of each plan', (document) => {
    const text = readFileSync(resolve(root, document), 'utf8').toLowerCase().replaceAll('`', '')
    for (const [plan, { perMinute, perDay }] of Object.entries(defaultPlans))
      expect(text).toContain(`| ${plan} | ${perMinute.toLocaleString('en')} | ${perDay.toLocaleString('en')} |`)
  })

  test('docs/behaviour.md states every error code with its status', () => {
    const table = readFileSync(resolve(root, 'docs/behaviour.md'), 'utf8')
    const rows = [...table.matchAll(/^\| (\d{3}) \| (.+?) \|/gm)].map(([, status, codes = '']) => ({ status, codes }))
    const stated = rows.flatMap(({ status, codes }) =>
      [...codes.matchAll(/`(\w+)`/g)].map(([, code = '']) => [code, Number(status)] as const),
    )
    const known = Object.entries(errorTable).map(([code, { status }]) => [code, status] as const)
    expect(Object.fromEntries(stated)).toEqual(Object.fromEntries(known))
    expect(stated).toHaveLength(known.length)
  })

  const excerpts = snippets.filter(({ excerptOf }) => excerptOf !== '')
  test.each(excerpts.map((snippet) => [titleOf(snippet), snippet] as const))(
    'an excerpt occurs in the file that it names: %s',
    (_, snippet) => {
      expect(readFileSync(resolve(root, snippet.excerptOf), 'utf8')).toContain(snippet.code.trimEnd())
    },
  )

  const programs = snippets.filter(({ language, excerptOf }) => language === 'js' && excerptOf === '')

  const needsEngines = ({ code }: Snippet) => code.includes('_URL')
  const ending = programs.filter(({ code }) => !code.includes('3000'))

  async function runsToItsEnd(snippet: Snippet): Promise<void> {
    // Open connections to PostgreSQL or Redis would keep the program running.
    const file = await scratch(
      needsEngines(snippet) ? `${onThisNode(snippet.code)}process.exit()` : onThisNode(snippet.code),
    )
    const { child, output, ended } = run(process.execPath, [file], '', dirname(file))
    await ended
    expect({ code: child.exitCode, output: child.exitCode === 0 ? '' : output() }).toEqual({ code: 0, output: '' })
    for (const [, expected] of snippet.code.matchAll(/console\.log\(.*\) \/\/ (.+)$/gm))
      expect(output()).toContain(expected)
  }

  test.each(ending.filter((snippet) => !needsEngines(snippet)).map((snippet) => [titleOf(snippet), snippet] as const))(
    'a program exits with 0 and prints the documented output: %s',
    (_, snippet) => runsToItsEnd(snippet),
  )
  test.skipIf(noEngines).each(ending.filter(needsEngines).map((snippet) => [titleOf(snippet), snippet] as const))(
    'a program exits with 0 and prints the documented output: %s',
    (_, snippet) => runsToItsEnd(snippet),
  )

  const commands = snippets.filter(({ language }) => language === 'sh').flatMap(({ code }) => code.trim().split('\n'))

  test.skipIf(noEngines)('the documented petstore commands work one after the other', async () => {
    const folder = dirname(await scratch(''))
    const cli = [process.execPath, resolve(root, 'dist/cli.js')]
    await writeFile(join(folder, 'pets.csv'), `name,categoryId\n${'Rex,1\n'.repeat(9)}`)
    for (const line of commands.filter((command) => command.startsWith('petstore '))) {
      const command = line.replace('petstore', '"$0" "$1"').replace(' serve ', ' serve --port 0 ')
      const { child, output, ended } = run('bash', ['-c', `exec ${command}`, ...cli], '', folder)
      if (line.includes(' serve ')) {
        for (const stream of [child.stdout, child.stderr])
          stream?.on('data', (chunk) => String(chunk).includes('Ctrl-C ends it.') && child.kill('SIGINT'))
      }
      await ended
      expect({ line, code: child.exitCode, output: output() }).toEqual({ line, code: 0, output: expect.any(String) })
    }
  })

  test.each(programs.filter(({ code }) => code.includes('3000')).map((snippet) => [titleOf(snippet), snippet.code]))(
    'a server from the documents starts and responds: %s',
    async (_, code) => {
      const port = await freePort()
      const { child, output, ended } = run(
        process.execPath,
        ['--input-type=module'],
        onThisNode(code).replaceAll('3000', String(port)),
      )
      try {
        const response = await responseOf(`http://127.0.0.1:${port}/v1/pets`, child)
        expect([response.status, await response.json()]).toMatchObject([401, { code: 'missing_api_key' }])
        expect(output()).not.toContain('Error')
        const [token] = /pet_\w+/.exec(output()) ?? []
        expect((await responseOf(`http://127.0.0.1:${port}/v1/pets`, child, token)).status).toBe(200)
      } finally {
        child.kill()
        await ended
      }
    },
  )

  test('npm start starts a server', async () => {
    const { scripts } = JSON.parse(readFileSync(resolve(root, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>
    }
    // With the npm setting `ignore-scripts`, npm skips `pre` and `post` scripts, so these commands must not need any.
    expect(Object.keys(scripts).filter((name) => /^(pre|post)(start|test)$/.test(name))).toEqual([])
    // This test omits the build step of `npm start`: it would remove `dist`, which other tests use at the same time.
    const [, file = '', ...args] = (scripts.start?.split(' && ').at(-1) ?? '').split(' ')
    const { child, output, ended } = run(process.execPath, [file, ...args, '--port', '0'])
    const url = await new Promise<string>((resolve, reject) => {
      child.stdout?.on('data', () => output().includes('Ctrl-C') && resolve(/on (http:\S+),/.exec(output())?.[1] ?? ''))
      child.on('close', () => reject(new Error(output())))
    })
    expect((await fetch(`${url}/pets`)).status).toBe(401)
    child.kill('SIGINT')
    await ended
    expect([child.exitCode, output()]).toEqual([0, expect.stringContaining('Closing:')])
  })
})
