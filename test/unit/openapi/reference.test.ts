import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { describe, expect, test } from 'vitest'
import { createPetStore } from '../../../src/index.ts'
import { openApiDocument, type ReferenceOptions, referenceHtml } from '../../../src/openapi/index.ts'
import { VIEWER } from '../../../src/openapi/reference.ts'

const require = createRequire(import.meta.url)
const petStore = createPetStore()
const HASH = `sha384-${'a'.repeat(64)}`

/** Returns the attributes of the element that loads the viewer. */
function viewerOf(options?: ReferenceOptions): string {
  return /<script (src=[^>]*)>/.exec(referenceHtml(petStore, options))?.[1] ?? ''
}

describe('the default viewer', () => {
  test('the version is the one that is installed for the tests', () => {
    const folder = require.resolve('@scalar/api-reference/browser/standalone.js').replace(/\/dist\/.*/, '')
    const { version } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8')) as { version: string }
    expect(VIEWER.package).toBe(`@scalar/api-reference@${version}`)
    expect(VIEWER.scriptUrl).toBe(`https://cdn.jsdelivr.net/npm/${VIEWER.package}/dist/browser/standalone.js`)
  })

  test('the integrity is the hash of its file', () => {
    const file = readFileSync(require.resolve('@scalar/api-reference/browser/standalone.js'))
    expect(VIEWER.integrity).toBe(`sha384-${createHash('sha384').update(file).digest('base64')}`)
    expect(viewerOf()).toBe(`src="${VIEWER.scriptUrl}" integrity="${VIEWER.integrity}" crossorigin="anonymous"`)
  })
})

describe('referenceHtml', () => {
  test('your own script has your integrity, or none', () => {
    expect(viewerOf({ scriptUrl: '/scalar.js' })).toBe('src="/scalar.js"')
    expect(viewerOf({ scriptUrl: 'https://cdn.example/s.js', integrity: HASH })).toBe(
      `src="https://cdn.example/s.js" integrity="${HASH}" crossorigin="anonymous"`,
    )
  })

  /** Returns the document in the page, as the viewer reads it. */
  function documentIn(page: string): unknown {
    return JSON.parse(/<script id="api-reference" type="application\/json"[^>]*>(.*?)<\/script>/.exec(page)?.[1] ?? '')
  }

  test('the page contains the document of the store', () => {
    expect(documentIn(referenceHtml(petStore))).toEqual(openApiDocument(petStore))
  })

  test('no name of a plan ends the element of the document', () => {
    const hostile = createPetStore({ plans: { '</script><!--<script>': { perMinute: 1, perDay: 1 } } })
    expect(documentIn(referenceHtml(hostile))).toEqual(openApiDocument(hostile))
  })

  test('with documentUrl, the viewer loads that document', () => {
    const page = referenceHtml(petStore, { documentUrl: '/openapi.json' })
    expect(page).toContain('<script id="api-reference" data-url="/openapi.json"')
    expect(page).not.toContain('listPets')
  })

  test('anything but a store is rejected', () => {
    expect(() => referenceHtml({ title: 'Shop' } as never)).toThrow(/^option petStore: expected a pet store /)
  })

  test('every text is escaped', () => {
    const text = `<b>&amp;"'`
    const page = referenceHtml(petStore, { title: text, documentUrl: `/${text}`, scriptUrl: `/${text}` })
    const escaped = '&lt;b&gt;&amp;amp;&quot;&#39;'
    expect(page).toContain(`<title>${escaped}</title>`)
    expect(page).toContain(`data-url="/${escaped}"`)
    expect(page).toContain(`src="/${escaped}"`)
    expect(page).not.toContain('<b>')
  })

  test.each([
    ['title', { title: ' ' }],
    ['documentUrl', { documentUrl: '' }],
    ['documentUrl', { documentUrl: 'file:///openapi.json' }],
    ['scriptUrl', { scriptUrl: 'javascript:alert(1)' }],
    ['scriptUrl', { scriptUrl: 'http://' }],
    ['integrity', { scriptUrl: '/scalar.js', integrity: 'sha384-abc' }],
    ['integrity', { scriptUrl: '/scalar.js', integrity: `${HASH} ${HASH}x` }],
    ['integrity', { integrity: HASH }],
    ['basePath', { basePath: '/v1' }],
  ] as const)('the error for an invalid option names the option: %s', (name, options) => {
    expect(() => referenceHtml(petStore, options as ReferenceOptions)).toThrow(new RegExp(`^option ${name}: expected `))
  })
})
