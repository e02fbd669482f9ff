import { expect, test } from 'vitest'
import { consoleDocument } from '../../../../adapters/cli/page/browser/console-document.ts'

const schema = { type: 'integer', default: 20 }
const limit = { name: 'limit', in: 'query', description: 'The size.', required: false, example: 2, schema }
const id = { name: 'id', in: 'path', required: true, example: 7, schema: { type: 'integer', default: 1 } }

/** Returns an OpenAPI document as the page `/console` shows it. */
function shown(description: string, ...parameters: object[]) {
  const document = { info: { description }, paths: { '/pets': { get: { parameters } } } }
  return consoleDocument(document) as typeof document
}

test('/console leaves an optional parameter empty, and names the default in its description', () => {
  const { parameters } = shown('', limit).paths['/pets'].get
  const text = 'The size. By default 20.'
  expect(parameters).toEqual([
    { name: 'limit', in: 'query', description: text, required: false, schema: { type: 'integer' } },
  ])
})

test('/console keeps the example of a required parameter', () => {
  expect(shown('', id).paths['/pets'].get.parameters).toEqual([id])
})

test('/console folds the sections of the description', () => {
  const { description } = shown('Short.\n\n## Limits\n\nLong.\n\n## Errors\n\nLonger.').info
  expect(description).toMatch(
    /^Short\.\s+<details>.+<\/summary>\s+## Limits\s+Long\.\s+## Errors\s+Longer\.\s+<\/details>$/,
  )
  expect(shown('Short.').info.description).toBe('Short.')
})
