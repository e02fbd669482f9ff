import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  javascriptQuoted,
  KEY_VARIABLE,
  LANGUAGES,
  literalQuoted,
  sampleOf,
  shellQuoted,
} from '../../../../src/openapi/reference/samples.ts'
import { findProgram } from '../../../support/server-process.ts'

const UNSAFE = /[\p{C}\p{Zl}\p{Zp}]/u
/** Texts with quotes, escapes, line breaks, control characters, marks for the direction of writing and emoji. */
const text = fc.string({
  unit: fc.oneof(
    fc.constantFrom(
      '"',
      "'",
      '\\',
      '\n',
      '\r',
      '\t',
      '$',
      '`',
      '!',
      '{',
      '\u001b',
      '\u202e',
      '\ufeff',
      '\u2028',
      '\u{e0001}',
    ),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
  ),
})
const texts = fc.array(text, { maxLength: 30 })
const bash = findProgram('bash')
const python = findProgram('python3')

const request = {
  method: 'POST',
  url: 'http://localhost:3000/v1/pets',
  headers: { 'Content-Type': 'application/json' },
  body: `{"name":"D'Artagnan \\"the $HOME\\" \u202e","categoryId":1}`,
  hasToken: true,
}

describe('quoted texts', () => {
  test('a JavaScript literal evaluates to the quoted text', () => {
    fc.assert(
      fc.property(text, (value) => {
        expect(runInNewContext(`(${javascriptQuoted(value)})`)).toBe(value)
      }),
    )
  })

  test.skipIf(!python)('a Python literal evaluates to the quoted text', () => {
    const check = (values: readonly string[]) => {
      const program = `import json\nprint(json.dumps([${values.map(literalQuoted).join(',')}]))`
      const output = execFileSync(python as string, ['-'], { input: program, encoding: 'utf8' })
      expect(JSON.parse(output)).toEqual(values)
    }
    fc.assert(fc.property(texts, check), { numRuns: 3 })
  })

  test.skipIf(!bash)('a shell prints the text of a quoted word unchanged', () => {
    const check = (values: readonly string[]) => {
      const expected = values.map((value) => value.replaceAll('\0', '\ufffd'))
      const script = expected.map((_, i) => `printf '%s\\0' ${shellQuoted(values[i] as string)}`).join('\n')
      const output = execFileSync(bash as string, { input: script, encoding: 'utf8' })
      expect(output.split('\0').slice(0, -1)).toEqual(expected)
    }
    fc.assert(fc.property(texts, check), { numRuns: 5 })
  })

  test('quoted text contains no characters that control terminals or text direction', () => {
    fc.assert(
      fc.property(text, (value) => {
        for (const quote of [shellQuoted, javascriptQuoted, literalQuoted]) expect(quote(value)).not.toMatch(UNSAFE)
      }),
    )
  })

  test.each([
    ['plain', 'plain'],
    ['two words', "'two words'"],
    ["it's", "'it'\\''s'"],
    ['a\nb', "$'a\\012b'"],
  ])('shellQuoted(%j) is %s', (value, expected) => {
    expect(shellQuoted(value)).toBe(expected)
  })
})

describe('samples', () => {
  test.each(LANGUAGES)('a sample in %s uses a variable if the page lacks the key', (language) => {
    expect(sampleOf(language, request)).toContain(KEY_VARIABLE)
  })

  test.each(LANGUAGES)('a sample in %s contains the key if the page knows it', (language) => {
    const sample = sampleOf(language, { ...request, token: 'pet_abc' })
    expect(sample).toContain('Bearer pet_abc')
    expect(sample).not.toContain(KEY_VARIABLE)
  })

  test.each([
    ['GET', '', 'curl -i http://a/v1/pets'],
    ['HEAD', '', 'curl -I http://a/v1/pets'],
    ['PUT', 'x', 'curl -i -X PUT --data-raw x http://a/v1/pets'],
    ['POST', '@file', 'curl -i --data-raw @file http://a/v1/pets'],
  ])('curl sends %s with the body %j', (method, body, expected) => {
    const sample = sampleOf('curl', { method, url: 'http://a/v1/pets', headers: {}, body, hasToken: false })
    expect(sample).toBe(expected)
  })

  /** Each language: the program that runs a sample, and its arguments. */
  const runners = {
    curl: [bash, ['-s']],
    fetch: [process.execPath, ['--input-type=module', '-']],
    Python: [python, ['-']],
  } as const

  test.each(Object.keys(runners) as (keyof typeof runners)[])('a sample in %s sends the request', async (language) => {
    const [program, args] = runners[language]
    if (program === undefined) return
    const received: unknown[] = []
    const server = createServer(async (incoming, outgoing) => {
      const body = (await incoming.toArray()).join('')
      const { authorization, 'content-type': type } = incoming.headers
      received.push({ method: incoming.method, target: incoming.url, authorization, type, body })
      outgoing.end('done')
    }).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/pets?a[]={1,2}`
    const { execFile } = await import('node:child_process')
    const child = execFile(program, args, { env: { ...process.env, [KEY_VARIABLE]: 'pet_abc' } })
    child.stdin?.end(sampleOf(language, { ...request, url }))
    await once(child, 'close')
    const { method, body } = request
    const type = 'application/json'
    expect(received).toEqual([{ method, target: '/v1/pets?a[]={1,2}', authorization: 'Bearer pet_abc', type, body }])
  })
})
