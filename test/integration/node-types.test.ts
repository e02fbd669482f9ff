import { join } from 'node:path'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { onDemand } from '../support/on-demand.ts'
import { missing } from '../support/skips.ts'

const NEWEST = '@types/node@26.6.6'
const folder = await onDemand(NEWEST)

// `npm run typecheck` compiles the handlers with the types of the oldest supported Node.
test.skipIf(missing(NEWEST, folder !== undefined))('the handlers compile with the newest @types/node', () => {
  const root = join(import.meta.dirname, '../..')
  const config = ts.getParsedCommandLineOfConfigFile(
    join(root, 'adapters/tsconfig.json'),
    {},
    {
      ...ts.sys,
      onUnRecoverableConfigFileDiagnostic: (problem) => expect.fail(String(problem.messageText)),
    },
  )
  const typeRoots = [join(folder ?? '', 'node_modules/@types')]
  const options = { ...config?.options, skipLibCheck: true, exactOptionalPropertyTypes: true, typeRoots }
  const program = ts.createProgram([join(root, 'test/support/node-mounts.ts')], options)
  const problems = ts.getPreEmitDiagnostics(program)
  expect(
    ts.formatDiagnostics(problems, { ...ts.sys, getCanonicalFileName: (name) => name, getNewLine: () => '\n' }),
  ).toBe('')
  expect(program.getSourceFiles().filter(({ fileName }) => fileName.endsWith('@types/node/http.d.ts'))).toHaveLength(1)
})
