import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { check } from 'recheck'
import ts from 'typescript'
import { expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '../../..')

interface Pattern {
  readonly file: string
  readonly source: string
  readonly flags: string
}

/** Returns the regular expressions of a file. Throws for one that is put together at run time, because it cannot be checked. */
function patternsOf(file: string, text: string): Pattern[] {
  const patterns: Pattern[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/')
      patterns.push({ file, source: node.text.slice(1, end), flags: node.text.slice(end + 1) })
    }
    const isCreated = ts.isNewExpression(node) || ts.isCallExpression(node)
    if (isCreated && node.expression.getText() === 'RegExp') {
      const [source, flags] = node.arguments ?? []
      const isText = (one: ts.Node | undefined) => one === undefined || ts.isStringLiteralLike(one)
      if (!source || !isText(source) || !isText(flags))
        throw new Error(`${file}: expected a literal pattern, got ${node.getText()}`)
      const [sourceText, flagsText] = [source, flags].map((one) => (one as ts.StringLiteral | undefined)?.text ?? '')
      patterns.push({ file, source: sourceText as string, flags: flagsText as string })
    }
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true))
  return patterns
}

function filesIn(folder: string): string[] {
  const files = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
  return files.filter((file) => file.endsWith('.ts')).map((file) => join(folder, file))
}

/** The limits are counts of steps. Limits of time are off, because a slow machine must not change the result. */
const LIMITS = { timeout: null, attackTimeout: null, incubationTimeout: null, attackLimit: 200_000_000 }

async function problemOf({ source, flags }: Pattern): Promise<string | undefined> {
  const result = await check(source, flags, LIMITS)
  if (result.status === 'safe') return undefined
  return result.status === 'vulnerable' ? `vulnerable: ${result.complexity.summary}` : `unknown: ${result.error.kind}`
}

const patterns = ['src', 'adapters'].flatMap(filesIn).flatMap((file) => {
  return patternsOf(file, readFileSync(join(root, file), 'utf8'))
})

test.each(patterns)('takes linear time: $file /$source/$flags', async (pattern) => {
  expect(await problemOf(pattern)).toBeUndefined()
})
