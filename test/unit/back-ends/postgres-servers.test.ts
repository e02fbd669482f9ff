import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { postgres } from '../../../adapters/back-ends/postgres/index.ts'

/** Runs `migrate` on a fake server that returns only its version. Returns the SQL that `migrate` sends, and its error. */
async function migrateOn(version: string): Promise<{ sent: string[]; error: unknown }> {
  const sent: string[] = []
  const query = async (text: string) => {
    sent.push(text)
    return { rows: text === 'SELECT version()' ? [{ version }] : [] }
  }
  const error = await postgres({ query })
    .migrate()
    .catch((error: unknown) => error)
  return { sent, error }
}

describe('migrate', () => {
  test.each([
    ['CockroachDB', 'CockroachDB CCL v24.3.1 (x86_64-pc-linux-gnu, built 2026/11/01, go1.22.8)'],
    ['YugabyteDB', 'PostgreSQL 11.2-YB-2.20.1.3-b0 on x86_64-pc-linux-gnu, compiled by clang version 15.0.3'],
    ['a later YugabyteDB', 'PostgreSQL 15.12-YB-2025.1.0.0-b0 on aarch64-unknown-linux-gnu'],
    ['Redshift', 'PostgreSQL 8.0.2 on i686-pc-linux-gnu, compiled by GCC gcc (GCC) 3.4.2, Redshift 1.0.38698'],
    ['Greenplum', 'PostgreSQL 12.12 (Greenplum Database 7.1.0 build commit:e7c2b1f) on x86_64-pc-linux-gnu'],
    ['an old PostgreSQL', 'PostgreSQL 11.22 on x86_64-pc-linux-gnu'],
  ])('migrate refuses %s with one error, and changes nothing', async (_name, version) => {
    const { sent, error } = await migrateOn(version)
    expect(sent).toEqual(['SELECT version()'])
    const { code, message } = error as { code: string; message: string }
    expect(code).toBe('invalid_option')
    expect(message).toContain(
      `option client: expected PostgreSQL 12 or later, but the server says that it is "${version.slice(0, 100)}". `,
    )
    expect(message).toMatch(/connect to PostgreSQL itself, or write a back end for this server$/)
  })

  test.each([
    ['PostgreSQL', 'PostgreSQL 12.22 on x86_64-pc-linux-gnu, compiled by gcc, 64-bit'],
    ['a package of PostgreSQL', 'PostgreSQL 17.6 (Debian 17.6-0+deb13u1) on x86_64-pc-linux-gnu'],
    ['a beta', 'PostgreSQL 19beta1 on x86_64-pc-linux-gnu'],
  ])('migrate runs on %s', async (_name, version) => {
    const { sent, error } = await migrateOn(version)
    expect(error).toBeUndefined()
    expect(sent[1]).toMatch(/^DO /)
  })

  test.each([
    [
      'an exception',
      () => {
        throw new Error('broken')
      },
    ],
    ['a rejected promise', () => Promise.reject(new Error('broken'))],
  ])('migrate resolves despite %s from onError', async (_, onError) => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    onTestFinished(() => log.mockRestore())
    const rows = {
      'SELECT version()': [{ version: 'PostgreSQL 17.6' }],
      'SHOW synchronous_commit': [{ synchronous_commit: 'off' }],
    }
    const query = async (text: string) => ({ rows: rows[text as keyof typeof rows] ?? [] })
    await postgres({ query }, { onError }).migrate()
    expect(log.mock.calls).toEqual([
      [expect.stringContaining('PostgreSQL: Error: synchronous_commit is off')],
      [expect.stringContaining('onError failed: Error: broken')],
    ])
  })
})
