import { execFile } from 'node:child_process'
import { chown, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { postgres } from '../../../adapters/back-ends/postgres/index.ts'
import { runPetstore } from '../../support/petstore-command.ts'
import { openPool } from '../../support/postgres-back-end.ts'
import {
  type PostgresServer,
  postgresPrograms,
  startPostgres,
  unprivilegedUser,
} from '../../support/postgres-server.ts'
import { findProgram } from '../../support/server-process.ts'
import { missing } from '../../support/skips.ts'

const noPostgres = missing('PostgreSQL', (await postgresPrograms()) !== undefined)
const openssl = findProgram('openssl')

/** Creates a private certificate authority, and a certificate of it for 127.0.0.1. Returns the names of the files. */
async function createCertificates(folder: string) {
  const run = (...args: string[]) => promisify(execFile)(openssl as string, args, { cwd: folder })
  const newKey = (name: string) => ['-newkey', 'rsa:2048', '-nodes', '-keyout', `${name}.key`, '-subj', `/CN=${name}`]
  await run('req', '-x509', ...newKey('authority'), '-out', 'authority.pem', '-days', '3650')
  await run('req', ...newKey('server'), '-out', 'server.csr')
  await writeFile(join(folder, 'extensions'), 'subjectAltName=IP:127.0.0.1\n')
  const authority = ['-CA', 'authority.pem', '-CAkey', 'authority.key', '-CAcreateserial']
  const options = ['-days', '3650', '-extfile', 'extensions', '-out', 'server.pem']
  await run('x509', '-req', '-in', 'server.csr', ...authority, ...options)
  return {
    authority: join(folder, 'authority.pem'),
    key: join(folder, 'server.key'),
    server: join(folder, 'server.pem'),
  }
}

describe.skipIf(missing('openssl', openssl !== undefined) || noPostgres)('PostgreSQL with a private CA', () => {
  let server: PostgresServer
  let folder: string
  let ca: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'petstore-kit-'))
    const files = await createCertificates(folder)
    ca = files.authority
    const access = join(folder, 'access.conf')
    await writeFile(access, 'hostssl all all 127.0.0.1/32 trust\n')
    const user = await unprivilegedUser()
    const owned = [folder, access, ...Object.values(files)]
    if (user !== undefined) for (const path of owned) await chown(path, user.uid, user.gid)
    const settings = { ssl: 'on', ssl_cert_file: files.server, ssl_key_file: files.key, hba_file: access }
    server = await startPostgres({ settings })
  })
  afterAll(async () => {
    await server.remove()
    await rm(folder, { recursive: true })
  })

  const open = (config: object) => {
    const pool = openPool(server.url, config)
    onTestFinished(() => pool.end())
    return pool
  }

  test('a pool with the certificate of the authority is encrypted', async () => {
    const pool = open({ ssl: { ca: await readFile(ca, 'utf8') } })
    await postgres(pool).migrate()
    const { rows } = await pool.query('SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()')
    expect(rows).toEqual([{ ssl: true }])
  })

  test('a pool without the certificate of the authority is refused', async () => {
    await expect(postgres(open({ ssl: true })).migrate()).rejects.toThrow('unable to verify the first certificate')
  })

  test.each([
    [
      '?sslmode=verify-full',
      /: unable to verify the first certificate: .* end --database-url with \?sslmode=verify-full&sslrootcert=/,
    ],
    ['', /: no pg_hba\.conf entry .*, no encryption: .* end --database-url with \?sslmode=verify-full/],
  ])('petstore says what to add to an address that ends with "%s"', async (end, message) => {
    const { code, stderr } = await runPetstore(['keys', 'list', '--database-url', server.url + end])
    expect([code, stderr]).toEqual([1, expect.stringMatching(message)])
  })

  test('petstore connects with sslrootcert', async () => {
    const url = `${server.url}?sslmode=verify-full&sslrootcert=${ca}`
    expect(await runPetstore(['keys', 'list', '--database-url', url])).toMatchObject({ code: 0, stderr: '' })
  })
})
