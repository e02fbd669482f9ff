import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import ts from 'typescript'
import { expect, onTestFinished, test } from 'vitest'
import { entryPoints } from '../support/entry-points.ts'

const root = join(import.meta.dirname, '../..')
/** The types of Node 20 have no `node:sqlite`. */
const NODE_SQLITE = 'adapters/node-sqlite.ts'
/** Declares the globals `Bun` and `Deno`, which the examples of their adapters use. */
const GLOBALS = 'declare const Bun: { serve(options: object): unknown }; declare const Deno: { serve: Function }\n'

const config = ts.readConfigFile(join(root, 'adapters/tsconfig.json'), ts.sys.readFile).config as object
const { options } = ts.parseJsonConfigFileContent(config, ts.sys, join(root, 'adapters'))
const entries = Object.values(entryPoints).map((file) => join(root, file))
const program = ts.createProgram(entries, options)
const checker = program.getTypeChecker()

const named = Object.entries(entryPoints).flatMap(([place, file]) => {
  const module = checker.getSymbolAtLocation(program.getSourceFile(join(root, file)) as ts.SourceFile) as ts.Symbol
  return checker.getExportsOfModule(module).map((symbol) => {
    const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
    return { name: `${place}: ${symbol.name}`, symbol: target }
  })
})
const textOf = (symbol: ts.Symbol) => ts.displayPartsToString(symbol.getDocumentationComment(checker))
const membersOf = (symbol: ts.Symbol) =>
  symbol.flags & (ts.SymbolFlags.Interface | ts.SymbolFlags.Class) ? [...(symbol.members?.values() ?? [])] : []
/** Returns whether a type describes a part of another library's object. That library documents the members, so we need not. */
const isStructural = (symbol: ts.Symbol) => textOf(symbol).startsWith('The part of')
const examplesOf = (symbol: ts.Symbol) =>
  symbol
    .getJsDocTags(checker)
    .filter(({ name }) => name === 'example')
    .map(({ text }) => ts.displayPartsToString(text))

test('entryPoints lists every entry point of the package', () => {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { exports: object }
  const entries = Object.keys(exports).filter((entry) => entry !== './package.json')
  expect(Object.keys(entryPoints).toSorted()).toEqual(
    entries.map((entry) => entry.replace('.', 'petstore-kit')).toSorted(),
  )
})

test('every public name is documented', () => {
  const silent = named.filter(({ symbol }) => textOf(symbol) === '').map(({ name }) => name)
  expect(silent).toEqual([])
})

test('every member of a public name is documented', () => {
  const ours = named.filter(({ symbol }) => !isStructural(symbol))
  const silent = ours.flatMap(({ name, symbol }) =>
    membersOf(symbol)
      .filter(({ flags }) => !(flags & (ts.SymbolFlags.TypeParameter | ts.SymbolFlags.Constructor)))
      .filter((member) => textOf(member) === '')
      .map((member) => `${name}.${member.name}`),
  )
  expect(silent).toEqual([])
})

/** Returns the types of this package that a declaration names. A value without a written type has an inferred one. */
function typesIn(symbol: ts.Symbol): ts.Symbol[] {
  const found = new Set<ts.Symbol>()
  const visit = (node: ts.Node): void => {
    const isPrivate = ts.canHaveModifiers(node) && (ts.getCombinedModifierFlags(node as ts.Declaration) & PRIVATE) !== 0
    if (isPrivate || ts.isBlock(node) || (ts.isPropertyDeclaration(node) && ts.isPrivateIdentifier(node.name))) return
    if (ts.isIdentifier(node)) {
      const known = checker.getSymbolAtLocation(node) ?? (node as { symbol?: ts.Symbol }).symbol
      if (known) found.add(known.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(known) : known)
    }
    ts.forEachChild(node, visit)
  }
  for (const declaration of symbol.declarations ?? []) {
    const isTyped = ts.isInterfaceDeclaration(declaration) || ts.isTypeAliasDeclaration(declaration)
    const inferred = isTyped ? undefined : checker.typeToTypeNode(checker.getTypeOfSymbol(symbol), undefined, INFERRED)
    visit(ts.isVariableDeclaration(declaration) ? (inferred as ts.TypeNode) : declaration)
    if (inferred) visit(inferred)
  }
  return [...found].filter(isOurType)
}

const PRIVATE = ts.ModifierFlags.Private | ts.ModifierFlags.Protected
const INFERRED = ts.NodeBuilderFlags.NoTruncation | ts.NodeBuilderFlags.UseAliasDefinedOutsideCurrentScope
const TYPES = ts.SymbolFlags.Interface | ts.SymbolFlags.TypeAlias | ts.SymbolFlags.Class | ts.SymbolFlags.Enum

function isOurType({ flags, declarations = [] }: ts.Symbol): boolean {
  const isOurs = declarations.some((declaration) =>
    /^(?:src|adapters)\//.test(relative(root, declaration.getSourceFile().fileName)),
  )
  return isOurs && (flags & TYPES) !== 0
}

test('an entry point exports every type that a public signature names', () => {
  const exported = new Set(named.map(({ symbol }) => symbol))
  const hidden = named.flatMap(({ name, symbol }) =>
    typesIn(symbol)
      .filter((type) => !exported.has(type))
      .map((type) => `${name} names ${type.name}`),
  )
  expect(hidden).toEqual([])
})

test('every public function has an example', () => {
  const silent = named.filter(({ symbol }) => symbol.flags & ts.SymbolFlags.Function && examplesOf(symbol).length === 0)
  expect(silent.map(({ name }) => name)).toEqual([])
})

const examples = named.flatMap(({ name, symbol }) =>
  examplesOf(symbol).map((text) => ({ name, code: text.replaceAll(/^```\w*$/gm, '') })),
)

/** Compiles programs that import the package by name, in strict TypeScript. Returns the errors. */
function typeErrors(programs: readonly string[]): string {
  const files = new Map(programs.map((code, i) => [join(root, `adapters/example-${i}.ts`), GLOBALS + code]))
  files.set(join(root, NODE_SQLITE), "import Database from 'libsql'\nexport class DatabaseSync extends Database {}\n")
  // The installed libsql replaces better-sqlite3, which would need a compiler. Both have the same API.
  const modules = { ...entryPoints, 'better-sqlite3': 'node_modules/libsql', 'node:sqlite': NODE_SQLITE }
  const paths = Object.fromEntries(Object.entries(modules).map(([place, file]) => [place, [join(root, file)]]))
  const exampleOptions = { ...options, paths, noUnusedLocals: false, skipLibCheck: true }
  const host = ts.createCompilerHost(exampleOptions)
  const { fileExists, getSourceFile } = host
  host.fileExists = (file) => files.has(file) || fileExists(file)
  host.getSourceFile = (file, ...rest) => {
    const text = files.get(file)
    return text === undefined ? getSourceFile(file, ...rest) : ts.createSourceFile(file, text, ts.ScriptTarget.ES2022)
  }
  const problems = ts.getPreEmitDiagnostics(ts.createProgram([...files.keys()], exampleOptions, host))
  return ts.formatDiagnostics(problems, { ...host, getNewLine: () => '\n' })
}

test('every example compiles', () => {
  expect(examples.length).toBeGreaterThan(0)
  expect(typeErrors(examples.map(({ code }) => code))).toBe('')
})

test('every snippet in docs/client.md and docs/testing.md compiles', () => {
  const documents = ['client', 'testing'].map((name) => readFileSync(join(root, `docs/${name}.md`), 'utf8'))
  const snippets = documents.flatMap((text) =>
    [...text.matchAll(/^```js\n([\s\S]*?)^```$/gm)].map(([, code = '']) => code),
  )
  expect(snippets.length).toBeGreaterThan(0)
  expect(typeErrors(snippets)).toBe('')
})

test('every whole program in README.md and docs/mounting.md compiles', () => {
  const programs = ['README.md', 'docs/mounting.md'].flatMap((name) =>
    [...readFileSync(join(root, name), 'utf8').matchAll(/^```js\n([\s\S]*?)^```$/gm)].map(([, code = '']) => code),
  )
  expect(programs.length).toBeGreaterThan(0)
  expect(typeErrors(programs)).toBe('')
})

const printing = examples.filter(({ code }) => /console\.log\(.*\) \/\/ /.test(code))

test.each(printing)('the example of $name prints the stated output', async ({ code }) => {
  // The folder is inside the package, so that the example can import the package by its name.
  const folder = await mkdtemp(join(root, '.cache-example-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = join(folder, 'example.mjs')
  const { outputText } = ts.transpileModule(code, {
    compilerOptions: { target: options.target, module: options.module },
  })
  await writeFile(file, outputText)
  const { stdout } = await promisify(execFile)(process.execPath, [file])
  const expected = [...code.matchAll(/console\.log\(.*\) \/\/ (.+)$/gm)].map(([, line]) => `${line}\n`)
  expect(stdout).toBe(expected.join(''))
})
