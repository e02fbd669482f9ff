import { join } from 'node:path'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { entryPoints } from '../support/entry-points.ts'

const root = join(import.meta.dirname, '../..')
const program = '/project/program.mts'

/** Maps a path below `/project` to the built package, or to what is installed beside it. */
function onDisk(path: string): string {
  return path
    .replace('/project/node_modules/petstore-kit', root)
    .replace('/project/node_modules', join(root, 'node_modules'))
}

/**
 * Compiles one file of a project that has installed the package, and emits its declarations. Returns the errors.
 * @param ownPackage - what the project has installed too, so that both use the same copy
 */
function compile(text: string, ownPackage: string) {
  const options: ts.CompilerOptions = {
    strict: true,
    declaration: true,
    emitDeclarationOnly: true,
    skipLibCheck: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    types: [],
  }
  const host = ts.createCompilerHost(options)
  host.getCurrentDirectory = () => '/project'
  host.fileExists = (path) => path === program || ts.sys.fileExists(onDisk(path))
  host.readFile = (path) => (path === program ? text : ts.sys.readFile(onDisk(path)))
  host.directoryExists = (path) => ts.sys.directoryExists(onDisk(path))
  host.realpath = (path) => path.replace(`/petstore-kit/node_modules/${ownPackage}/`, `/${ownPackage}/`)
  host.writeFile = () => {}
  const created = ts.createProgram([program], options, host)
  const problems = [...ts.getPreEmitDiagnostics(created), ...created.emit().diagnostics]
  return { created, problems: problems.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n')) }
}

/** Returns exports of the result of each function of an entry, and of each object in the result. */
function exportsOf(entry: string, ownPackage: string): string[] {
  const { created } = compile(`export * from '${entry}'`, ownPackage)
  const checker = created.getTypeChecker()
  const module = checker.getSymbolAtLocation(created.getSourceFile(program) as ts.SourceFile) as ts.Symbol
  return checker.getExportsOfModule(module).flatMap((exported) => {
    const [signature] = checker.getTypeOfSymbol(exported).getCallSignatures()
    const result = signature && checker.getAwaitedType(signature.getReturnType())
    if (result === undefined) return []
    const { name } = exported
    const isObject = (member: ts.Symbol) =>
      checker.getTypeOfSymbol(member).getSymbol()?.flags === ts.SymbolFlags.Interface
    // The types of members of zod's schemas are for zod itself.
    const isPlain = ({ name }: ts.Symbol) => /^[a-z]/.test(name)
    const objects = (result.getSymbol() ? result.getProperties() : []).filter(isObject).filter(isPlain)
    return [
      `export const ${name} = await entry.${name}(...([] as unknown as Parameters<typeof entry.${name}>))`,
      ...objects.map((member) => `export const ${name}_${member.name} = ${name}.${member.name}`),
    ]
  })
}

/** The types of these schemas are those of zod, so a program that exports one installs zod itself. */
const SCHEMAS = 'petstore-kit/schemas'

test.each(Object.keys(entryPoints))(
  'a program that imports only %s can emit declarations of what it creates',
  (entry) => {
    const ownPackage = entry === SCHEMAS ? 'zod' : 'none'
    const lines = exportsOf(entry, ownPackage)
    const { problems } = compile([`import * as entry from '${entry}'`, ...lines].join('\n'), ownPackage)
    expect({ lines, problems }).toEqual({ lines, problems: [] })
  },
)

test('only the adapters for servers of Node need the types of Node', () => {
  const importing = Object.keys(entryPoints).filter((entry) => {
    const files = compile(`import '${entry}'`, 'none').created.getSourceFiles()
    const ours = files.filter(({ fileName }) => fileName.includes('/petstore-kit/dist/'))
    expect(ours).not.toEqual([])
    const imports = ours.flatMap(({ text }) => ts.preProcessFile(text).importedFiles)
    return imports.some(({ fileName }) => fileName.startsWith('node:'))
  })
  expect(importing).toEqual(['petstore-kit/node', 'petstore-kit/express', 'petstore-kit/fastify', 'petstore-kit/koa'])
})
