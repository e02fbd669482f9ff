import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { openApiDocument } from '../../../../src/openapi/index.ts'
import { Html, html } from '../../../../src/openapi/reference/html.ts'
import { markdown } from '../../../../src/openapi/reference/markdown.ts'
import { referenceHtml, referencePage } from '../../../../src/openapi/reference/reference-html.ts'
import { operationNames } from '../../../../src/operations.ts'

const publicUrl = 'https://api.example'

/** Returns the Markdown as HTML text. */
function rendered(text: string): string {
  return markdown(text)
    .map(({ text }) => text)
    .join('\n')
}

describe('HTML', () => {
  test('every value is escaped, in texts and in attributes', () => {
    fc.assert(
      fc.property(fc.string(), (value) => {
        expect(html`${value}`.text).not.toMatch(/[<>"']|&(?!amp;|lt;|gt;|quot;|#39;)/)
      }),
    )
  })

  test('HTML inside other HTML is not escaped a second time', () => {
    expect(html`<ul>${[html`<li>${'<'}</li>`]}</ul>`.text).toBe('<ul><li>&lt;</li></ul>')
    expect(html`${1}`).toBeInstanceOf(Html)
  })
})

describe('Markdown', () => {
  test.each([
    ['## Pages', '<h3>Pages</h3>'],
    ['- a\n- `b`', '<ul><li>a</li><li><code>b</code></li></ul>'],
    ['two\nlines', '<p>two lines</p>'],
    ['\\<API_KEY> and \\`', '<p>&lt;API_KEY&gt; and `</p>'],
    ['an open ` tick', '<p>an open ` tick</p>'],
  ])('the Markdown %j becomes %s', (text, expected) => {
    expect(rendered(text)).toBe(expected)
  })

  test('an escaped bar does not end a table cell', () => {
    expect(rendered('| A | B |\n| --- | --- |\n| x\\|y | `c` |')).toContain('<td>x|y</td><td><code>c</code></td>')
  })

  test('no Markdown text creates an element outside a fixed list', () => {
    const tags = /^(?:p|h2|h3|ul|li|code|wbr|div|table|thead|tbody|tr|th|td)$/
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('<', '>', '`', '\\', '|', '-', '#', '\n', ' ', 'a', '&', '"') }),
        (text) => {
          for (const [, tag = ''] of rendered(text).matchAll(/<\/?([^\s>]*)/g)) expect(tag).toMatch(tags)
        },
      ),
    )
  })
})

describe('the reference', () => {
  const document = openApiDocument({ publicUrl })
  const page = referenceHtml({ publicUrl })
  const operations = Object.values(document.paths).flatMap((item) => Object.values(item)) as Record<string, unknown>[]

  test('the page has every operation, parameter, status and error code', () => {
    expect(operations).toHaveLength(3)
    for (const { operationId, parameters = [], responses } of operations) {
      expect(page).toContain(`id="${operationId}"`)
      expect(page).toContain(`href="#${operationId}"`)
      for (const { name } of parameters as { name: string }[]) expect(page).toContain(`<code>${name}</code>`)
      for (const status of Object.keys(responses as object)) expect(page).toContain(status)
    }
    for (const code of Object.keys(document.components.examples))
      expect(page.replaceAll('<wbr />', '')).toContain(`<code>${code}</code>`)
  })

  test('the page has samples in four languages for each operation', () => {
    expect(page.match(/aria-label="Sample in \w+"/g)).toHaveLength(4 * operationNames.length)
    expect(page).toContain('https://api.example/v1/pets')
    expect(page).toContain('https://api.example/v1/pets/7')
  })

  test('the page shows a response header that was added to the document', () => {
    const changed = structuredClone(document)
    changed.components.headers['X-New'] = { description: 'A new header.', schema: { type: 'integer', minimum: 3 } }
    const { responses } = (changed.paths['/pets']?.get ?? {}) as { responses: Record<string, { headers: object }> }
    Object.assign(responses['200']?.headers ?? {}, { 'X-New': { $ref: '#/components/headers/X-New' } })
    expect(referencePage(changed)).toContain('>integer; at least 3; not always present</span>')
  })

  test('the page escapes the names of plans', () => {
    const plans = { '<img src=x>': { perMinute: 1, perDay: 1 } }
    expect(referenceHtml({ plans })).not.toContain('<img src=x>')
  })

  test('the policy of the page permits exactly its own style sheet and script', () => {
    const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(page)?.[1]?.replaceAll('&#39;', "'")
    const hashOf = (element: string) => {
      const text = new RegExp(`<${element}[^>]*>([\\s\\S]*?)</${element}>`).exec(page)?.[1] ?? ''
      return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
    }
    expect(policy).toContain(`script-src ${hashOf('script')};`)
    expect(policy).toContain(`style-src ${hashOf('style')};`)
    expect(policy).toMatch(/^default-src 'none';/)
    expect(page).toMatch(/<style>:root/)
    expect(page).not.toMatch(/ style=| on\w+=/)
  })

  test('the page requests nothing, and has no link to another page', () => {
    const addresses = [...page.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address = '']) => address)
    expect(addresses.length).toBeGreaterThan(10)
    expect(addresses.filter((address) => !/^(?:#|data:)/.test(address))).toEqual([])
  })

  test('without a server URL, the samples name a host that the script replaces', () => {
    const relative = referenceHtml({ basePath: '/shop/v1' })
    expect(relative).toContain('<span class="origin">https://your-server.example</span>/shop/v1/pets/7')
  })
})
